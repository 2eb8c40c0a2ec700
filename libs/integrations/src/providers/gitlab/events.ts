import { z } from 'zod';
import type {
  Actor,
  Passage,
  PullRequestRef,
  Reading,
  RepositoryRef,
  ReviewPlace,
  Thread,
  TriggerKind,
} from '../../intent.js';
import type { ReadingContext } from '../../provider.js';
import { fields, flag, id, list, maybe, moment, name, text, title, url } from '../../reading/fields.js';
import { isOurBranch, REVIEW_GATHER_MS } from '../../reading/forge-events.js';
import {
  type EventReader,
  ignored,
  intent,
  namesLabel,
  outcome,
  reads,
  refusedActor,
  triggerOf,
} from '../../reading/reading.js';

const user = fields({ id, username: name });
/** GitLab leaves the id out in some payloads; who has none is never us. */
const named = fields({ id: maybe(id) });
const label = fields({ id, title: name });
const project = fields({
  id,
  path_with_namespace: name,
  default_branch: maybe(name),
  visibility_level: maybe(z.number().int()),
});
const between = <T extends z.ZodType>(item: T) =>
  maybe(fields({ previous: maybe(list(item)), current: maybe(list(item)) }));
const changes = maybe(fields({ labels: between(label), assignees: between(named), reviewers: between(named) }));
const number = z.number().int().positive();

const subjectFields = {
  id,
  iid: number,
  title,
  description: text,
  url,
  state: maybe(name),
  author_id: maybe(id),
  created_at: moment,
  updated_at: moment,
};
const branches = {
  source_branch: name,
  target_branch: name,
  source_project_id: maybe(id),
  target_project_id: maybe(id),
  last_commit: maybe(fields({ id: name })),
  draft: flag,
  work_in_progress: flag,
};
const issue = fields({ ...subjectFields, confidential: flag });
const mergeRequest = fields({ ...subjectFields, ...branches });

type Project = z.output<typeof project>;
type Noteable = z.output<typeof issue> | z.output<typeof mergeRequest>;

/** Tokens of a project or group act as users of their own, named like this. */
const actorOf = ({ id, username }: z.output<typeof user>): Actor => ({
  id,
  login: username,
  kind: /^(?:project|group)_\d+_bot(?:_|\d|$)/.test(username) ? 'bot' : 'user',
});

const repositoryOf = (of: Project): RepositoryRef => ({
  id: of.id,
  fullName: of.path_with_namespace,
  // Internal ones (10) too: not all users may read them.
  private: of.visibility_level !== 20,
  defaultBranch: of.default_branch,
});

interface About {
  readonly on: Noteable;
  readonly of: Project;
  readonly confidential: boolean;
}

function threadOf({ on, of, confidential }: About): Thread {
  const merge = 'source_branch' in on;
  return {
    kind: merge ? 'pull-request' : 'issue',
    // Issues and merge requests are numbered apart, each with GitLab's own sign.
    key: `${of.id}${merge ? '!' : '#'}${on.iid}`,
    place: {
      project: of.id,
      iid: on.iid,
      on: merge ? 'merge_requests' : 'issues',
      ...(confidential ? { internal: 1 } : {}),
    },
    url: on.url,
    title: on.title,
    confidential,
    state: on.state === 'closed' || on.state === 'merged' ? 'closed' : 'open',
  };
}

function refOf(on: Noteable): PullRequestRef | null {
  if (!('source_branch' in on)) return null;
  return {
    number: on.iid,
    headBranch: on.source_branch,
    headSha: on.last_commit?.id ?? '',
    baseBranch: on.target_branch,
    fork: on.source_project_id === null || on.source_project_id !== on.target_project_id,
    draft: on.draft || on.work_in_progress,
  };
}

interface Said {
  readonly about: About;
  readonly actor: Actor;
  readonly trigger: TriggerKind;
  readonly key: string;
  readonly instruction: Passage;
}

interface InReview {
  readonly gatherMs?: number;
  readonly gatherKey?: string;
  readonly review?: ReviewPlace;
}

function intentOf({ about, actor, trigger, key, instruction }: Said, more: InReview = {}): Reading {
  const { on } = about;
  const thread = threadOf(about);
  // Only its id is sent of an author.
  const author: Actor =
    on.author_id === actor.id ? actor : { id: on.author_id ?? '0', login: on.author_id ?? 'ghost', kind: 'user' };
  const subject = { id: on.id, author, text: on.description, createdAt: on.created_at, url: on.url };
  const common = {
    semanticKey: `${thread.key}/${key}`,
    actor,
    thread,
    repository: repositoryOf(about.of),
    pullRequest: refOf(on),
    review: null,
  };
  return intent({ ...common, trigger, instruction, subject, ...more });
}

interface Changed {
  readonly about: About;
  readonly actor: Actor;
  readonly action: string;
  readonly labels: readonly z.output<typeof label>[];
  readonly assignees: readonly z.output<typeof named>[];
  readonly changes: z.output<typeof changes>;
  readonly context: ReadingContext;
}

/** A label or assignee that is new in this event; on opening, any that it is opened with. */
function changed({ about, actor, action, labels, assignees, changes, context }: Changed): Reading {
  if (about.confidential && !context.confidential) return ignored('confidential-off');
  const open = action === 'open';
  const hadLabel = new Set(changes?.labels?.previous?.map(({ id }) => id));
  const hasLabel = (open ? labels : (changes?.labels?.current ?? [])).some(
    (each) => (open || !hadLabel.has(each.id)) && namesLabel(context, each.title),
  );
  const isUs = (each: { readonly id: string | null }): boolean => each.id !== null && context.own.ids.includes(each.id);
  const newToUs = (
    change: {
      readonly previous: readonly { id: string | null }[] | null;
      readonly current: readonly { id: string | null }[] | null;
    } | null,
  ) => change !== null && (change.current ?? []).some(isUs) && !(change.previous ?? []).some(isUs);
  const isAssigned = open
    ? assignees.some(isUs)
    : newToUs(changes?.assignees ?? null) || newToUs(changes?.reviewers ?? null);
  const described: Passage = {
    id: about.on.id,
    author: actor,
    text: about.on.description,
    createdAt: about.on.created_at,
    url: about.on.url,
  };
  if (!hasLabel && !isAssigned) {
    const refused = refusedActor(actor, context, { text: described.text });
    if (!open) return ignored('no-trigger');
    if (refused !== null) return refused;
    const trigger = triggerOf({ text: described.text, syntax: 'markdown', trigger: 'mention' }, context);
    return typeof trigger === 'string'
      ? intentOf({ about, actor, trigger, key: 'opened', instruction: described })
      : trigger;
  }
  const refused = refusedActor(actor, context);
  if (refused !== null) return refused;
  if (threadOf(about).state === 'closed') return ignored('closed');
  const trigger = hasLabel ? 'label' : 'assignment';
  const at = about.on.updated_at ?? '';
  const instruction: Passage = { id: trigger, author: actor, text: '', createdAt: at, url: about.on.url };
  return intentOf({ about, actor, trigger, key: `${trigger}@${at}`, instruction });
}

const shared = { user, project, labels: list(label), assignees: list(named), changes };
const act = { action: maybe(name) };

const issues = reads(
  fields({
    ...shared,
    event_type: maybe(name),
    object_attributes: fields({ ...subjectFields, confidential: flag, ...act }),
  }),
  (body, context) => {
    const { object_attributes: on, labels, assignees, changes } = body;
    if (on.action === 'close') return ignored('closed');
    if (on.action !== 'open' && on.action !== 'update') return ignored('event-not-followed');
    const confidential = on.confidential || body.event_type === 'confidential_issue';
    const about = { on, of: body.project, confidential };
    return changed({ about, actor: actorOf(body.user), action: on.action, labels, assignees, changes, context });
  },
);

const FATE: Readonly<Record<string, 'merged' | 'closed' | 'reopened' | 'changed'>> = {
  merge: 'merged',
  close: 'closed',
  reopen: 'reopened',
  // One of those that are needed, or the last of them.
  approval: 'changed',
  unapproval: 'changed',
  approved: 'changed',
  unapproved: 'changed',
};

const mergeRequests = reads(
  fields({ ...shared, object_attributes: fields({ ...subjectFields, ...branches, ...act, oldrev: maybe(name) }) }),
  (body, context) => {
    const { object_attributes: on, labels, assignees, changes } = body;
    const action = on.action ?? '';
    const became = (state: 'merged' | 'closed' | 'reopened' | 'changed'): Reading =>
      outcome({ kind: 'pull-request', repository: repositoryOf(body.project), number: on.iid, state });
    if (Object.hasOwn(FATE, action)) return became(FATE[action] as 'merged');
    if (action !== 'open' && action !== 'update') return ignored('event-not-followed');
    const about = { on, of: body.project, confidential: false };
    const reading = changed({ about, actor: actorOf(body.user), action, labels, assignees, changes, context });
    // Its code changed only where the former head is named; of one of ours, whatever changed is shown.
    const shows = on.oldrev !== null || isOurBranch(on.source_branch);
    return action === 'update' && reading.kind === 'ignored' && reading.reason === 'no-trigger' && shows
      ? became('changed')
      : reading;
  },
);

const line = z
  .number()
  .int()
  .positive()
  .nullish()
  .catch(null)
  .transform((value) => value ?? null);
const note = fields({
  id,
  note: text,
  noteable_type: name,
  type: maybe(name),
  discussion_id: maybe(id),
  internal: flag,
  system: flag,
  action: maybe(name),
  url,
  created_at: moment,
  position: maybe(fields({ new_path: maybe(name), old_path: maybe(name), new_line: line, old_line: line })),
});

/**
 * Where in the change a note stands; `null`: nowhere in it. What it answers, and the lines themselves, are not sent.
 */
function placeOf({ id: commentId, position }: z.output<typeof note>): ReviewPlace | null {
  const path = position?.new_path ?? position?.old_path ?? null;
  if (position === null || path === null) return null;
  const { new_line, old_line } = position;
  return {
    commentId,
    inReplyTo: null,
    path,
    line: new_line ?? old_line,
    startLine: null,
    side: new_line === null ? 'LEFT' : 'RIGHT',
    diffHunk: '',
  };
}

const notes = reads(
  fields({
    user,
    project,
    event_type: maybe(name),
    object_attributes: note,
    issue: maybe(issue),
    merge_request: maybe(mergeRequest),
  }),
  (body, context) => {
    const { object_attributes: said, user } = body;
    const on = body.merge_request ?? body.issue;
    if (said.system) return ignored('system-note');
    // Before 15.11 there is no action: then it is the note's making, edits were not sent.
    if (said.action !== null && said.action !== 'create') return ignored('edited');
    if (on === null) return ignored('event-not-followed');
    const confidential =
      said.internal || body.event_type === 'confidential_note' || ('confidential' in on && on.confidential);
    if (confidential && !context.confidential) return ignored('confidential-off');
    const about = { on, of: body.project, confidential };
    const actor = actorOf(user);
    const refused = refusedActor(actor, context, { text: said.note });
    if (refused !== null) return refused;
    const inChange = said.type === 'DiffNote' && body.merge_request !== null;
    const { key } = threadOf(about);
    // GitLab has no event for a review: its notes come one by one.
    const unasked = inChange && context.ours(key);
    const trigger = triggerOf(
      { text: said.note, syntax: 'markdown', trigger: inChange ? 'review-comment' : 'mention', unasked },
      context,
    );
    if (typeof trigger !== 'string') return trigger;
    const instruction = { id: said.id, author: actor, text: said.note, createdAt: said.created_at, url: said.url };
    const review = inChange ? placeOf(said) : null;
    const gathered = inChange
      ? { gatherMs: REVIEW_GATHER_MS, gatherKey: `${key}/review/${actor.id}`, ...(review === null ? {} : { review }) }
      : {};
    return intentOf({ about, actor, trigger, key: `note/${said.id}`, instruction }, gathered);
  },
);

/** Of a pipeline; one that ended without a result leaves its checks to be read. */
const CONCLUSIONS: Readonly<Record<string, 'success' | 'failure' | 'pending'>> = {
  success: 'success',
  failed: 'failure',
  running: 'pending',
  pending: 'pending',
  canceled: 'pending',
  skipped: 'pending',
};

const pipelines = reads(
  fields({
    project,
    object_attributes: fields({ ref: maybe(name), sha: name, status: name, tag: flag }),
    merge_request: maybe(fields({ source_branch: name })),
  }),
  ({ project, object_attributes: { ref, sha, status, tag }, merge_request }) => {
    // Of a merge request, `ref` may be one of GitLab's own.
    const branch = merge_request?.source_branch ?? ref;
    const conclusion = Object.hasOwn(CONCLUSIONS, status) ? CONCLUSIONS[status] : undefined;
    if (tag || branch === null || conclusion === undefined) return ignored('no-trigger');
    return outcome({ kind: 'checks', repository: repositoryOf(project), headSha: sha, branch, conclusion });
  },
);

/** By `object_kind` of the body: confidential ones have the same. */
export const GITLAB_EVENTS: Readonly<Record<string, EventReader>> = {
  issue: issues,
  work_item: issues,
  merge_request: mergeRequests,
  note: notes,
  pipeline: pipelines,
};

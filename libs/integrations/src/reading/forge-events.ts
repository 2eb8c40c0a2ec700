import type { Actor, Intent, Passage, Reading, RepositoryRef, ReviewPlace, TriggerKind } from '../intent.js';
import { addressOf } from '../mention/mention.js';
import type { ReadingContext } from '../provider.js';
import { actorOf, type ForgeComment, type ForgeUser, type Subject } from './forge.js';
import { ignored, intent, namesLabel, outcome, refusedActor, triggerOf } from './reading.js';

/** Of every branch that we make. */
const OUR_BRANCHES = 'slipway/';
export const isOurBranch = (branch: string): boolean => branch.startsWith(OUR_BRANCHES);
/** A review and its line comments are sent one by one; those that come within this are one message. Milliseconds. */
export const REVIEW_GATHER_MS = 10_000;

interface Deed {
  readonly subject: Subject;
  readonly actor: Actor;
  readonly context: ReadingContext;
}

export function labelled(
  { subject, actor, context }: Deed,
  label: { readonly id: string; readonly name: string },
): Reading {
  if (!namesLabel(context, label.name)) return ignored('no-trigger');
  return wordless({ subject, actor, context }, 'label', `label/${label.id}`);
}

export function assigned({ subject, actor, context }: Deed, assignee: string): Reading {
  if (!context.own.ids.includes(assignee)) return ignored('no-trigger');
  return wordless({ subject, actor, context }, 'assignment', `assignment/${assignee}`);
}

/** An issue or pull request whose own text names us. */
export function opened({ subject, actor, context }: Deed): Reading {
  return worded({ subject, actor, context }, subject.passage, { trigger: 'mention', key: 'opened' });
}

export interface Commented {
  readonly comment: ForgeComment;
  readonly sender: ForgeUser;
  readonly action: string;
  /** Its text before this edit. */
  readonly before: string | null;
  readonly trigger: TriggerKind;
  readonly key: string;
  readonly unasked?: boolean;
  readonly review?: ReviewPlace;
  readonly gatherKey?: string;
}

/** A comment, new or edited. An edit is heard only when its own author adds a mention that was not there. */
export function commented(subject: Subject, context: ReadingContext, from: Commented): Reading {
  const { comment, sender, action, before, ...rest } = from;
  if (action === 'deleted') return ignored('deleted');
  if (action !== 'created' && action !== 'edited') return ignored('event-not-followed');
  const actor = actorOf(sender);
  const refused = refusedActor(actor, context, {
    text: comment.body,
    app: comment.performed_via_github_app?.id ?? null,
  });
  if (refused !== null) return refused;
  if (action === 'edited' && (before === null || names(before, context) || sender.id !== comment.user?.id))
    return ignored('edited');
  const passage = {
    id: comment.id,
    author: actorOf(comment.user ?? sender),
    text: comment.body,
    createdAt: comment.created_at,
    url: comment.html_url,
  };
  const reading = worded({ subject, actor, context }, passage, {
    ...rest,
    unasked: rest.unasked === true && action === 'created',
  });
  return action === 'edited' && reading.kind === 'ignored' ? ignored('edited') : reading;
}

export interface Worded {
  readonly trigger: TriggerKind;
  readonly key: string;
  readonly unasked?: boolean;
  readonly review?: ReviewPlace;
  readonly gatherKey?: string;
  readonly linesApart?: true;
}

/** A deed whose words are the instruction. */
export function worded(
  { subject, actor, context }: Deed,
  passage: Passage,
  { trigger: kind, key, unasked, review, gatherKey, linesApart }: Worded,
): Reading {
  const refused = refusedActor(actor, context, { text: passage.text });
  if (refused !== null) return refused;
  const trigger = triggerOf(
    { text: passage.text, syntax: 'markdown', trigger: kind, unasked: unasked === true },
    context,
  );
  if (typeof trigger !== 'string') return trigger;
  return intent({
    ...base(subject, actor, key),
    trigger,
    instruction: passage,
    review: review ?? null,
    ...(linesApart === undefined ? {} : { linesApart }),
    ...(gatherKey === undefined ? {} : { gatherMs: REVIEW_GATHER_MS, gatherKey: `${subject.thread.key}/${gatherKey}` }),
  });
}

/** A deed without words: what is asked for is the subject itself, which is closed for it when it is closed. */
function wordless({ subject, actor, context }: Deed, trigger: TriggerKind, key: string): Reading {
  const refused = refusedActor(actor, context);
  if (refused !== null) return refused;
  if (subject.thread.state === 'closed') return ignored('closed');
  const instruction: Passage = {
    id: key,
    author: actor,
    text: '',
    createdAt: subject.updatedAt,
    url: subject.thread.url,
  };
  return intent({ ...base(subject, actor, `${key}@${subject.updatedAt}`), trigger, instruction, review: null });
}

function base(
  subject: Subject,
  actor: Actor,
  key: string,
): Pick<Intent, 'semanticKey' | 'actor' | 'thread' | 'repository' | 'pullRequest' | 'subject'> {
  const { thread, repository, pullRequest, passage } = subject;
  return { semanticKey: `${thread.key}/${key}`, actor, thread, repository, pullRequest, subject: passage };
}

/** A review that asks for nothing still changes what a pull request of ours shows. */
export function orChanged({ thread, repository, pullRequest }: Subject, reading: Reading): Reading {
  if (
    reading.kind !== 'ignored' ||
    reading.reason !== 'no-trigger' ||
    pullRequest === null ||
    !isOurBranch(pullRequest.headBranch)
  )
    return reading;
  return outcome({ kind: 'pull-request', repository, number: Number(thread.place['number']), state: 'changed' });
}

/** Statuses that a commit may have, from those of GitHub and Gitea. */
export function statusChanged(of: RepositoryRef, sha: string, state: string): Reading {
  const conclusion = state === 'success' || state === 'pending' ? state : 'failure';
  return outcome({ kind: 'checks', repository: of, headSha: sha, branch: null, conclusion });
}

function names(text: string, { own }: ReadingContext): boolean {
  const address = addressOf(text, 'markdown', { name: own.mention, ids: own.ids });
  return address !== 'none' && address !== 'quoted';
}

import { z } from 'zod';
import type { Actor, Passage, Reading, Thread, TriggerKind } from '../../intent.js';
import { addressOf } from '../../mention/mention.js';
import type { ReadingContext } from '../../provider.js';
import { fields, id, list, maybe, moment, name, text, title, url } from '../../reading/fields.js';
import {
  type EventReader,
  ignored,
  intent,
  namesLabel,
  reads,
  refusedActor,
  triggerOf,
} from '../../reading/reading.js';
import { type DocumentText, documentText } from './adf.js';

/** Cloud has `accountId`, Data Center `key`, which stays when the name changes. */
const user = fields({
  accountId: maybe(id),
  key: maybe(name),
  name: maybe(name),
  displayName: maybe(title),
  accountType: maybe(name),
});
/** Wiki markup, or a document in Atlassian's format. */
const body = z.unknown().transform((value): DocumentText => {
  if (typeof value !== 'string') return documentText(value);
  const cut = text.parse(value);
  return { text: cut, prose: cut };
});

const issue = fields({
  id,
  key: name,
  self: url,
  fields: fields({
    summary: maybe(title),
    description: body.optional(),
    labels: list(name),
    status: maybe(fields({ statusCategory: maybe(fields({ key: maybe(name) })) })),
    assignee: maybe(user),
    reporter: maybe(user),
    security: z.unknown().optional(),
    created: moment,
  }),
});
const comment = fields({
  id,
  body,
  author: maybe(user),
  created: moment,
  visibility: z.unknown().optional(),
  jsdPublic: maybe(z.boolean()),
});
/** `toString` is what Jira calls the new value; `fields` gives it only where the body has it. */
const change = fields({ field: name, to: maybe(name), fromString: maybe(text), toString: maybe(text) });
const changelog = fields({ id, items: list(change) });

type User = z.output<typeof user>;
type Issue = z.output<typeof issue>;

const idOf = (from: User): string | null => from.accountId ?? from.key;

function actorOf(from: User | null): Actor | null {
  const known = from === null ? null : idOf(from);
  if (from === null || known === null) return null;
  return {
    id: known,
    login: from.name ?? from.displayName ?? known,
    kind: from.accountType === 'app' ? 'app' : 'user',
  };
}

const NOBODY: Actor = { id: '0', login: 'unknown', kind: 'user' };

function threadOf({ id, key, self, fields: of }: Issue, confidential: boolean): Thread {
  return {
    kind: 'ticket',
    key: id,
    place: { issue: id, key },
    // With the path that Data Center may be served under.
    url:
      self === null || !self.includes('/rest/api/')
        ? null
        : `${self.slice(0, self.indexOf('/rest/api/'))}/browse/${encodeURIComponent(key)}`,
    title: of.summary ?? '',
    confidential: confidential || (of.security !== null && of.security !== undefined),
    state: of.status?.statusCategory?.key === 'done' ? 'closed' : 'open',
  };
}

interface Said {
  readonly issue: Issue;
  readonly actor: Actor;
  readonly trigger: TriggerKind;
  readonly key: string;
  readonly instruction: Passage;
  readonly confidential?: boolean;
}

function intentOf({ issue, actor, trigger, key, instruction, confidential = false }: Said): Reading {
  const thread = threadOf(issue, confidential);
  const author = actorOf(issue.fields.reporter) ?? NOBODY;
  const subject = {
    id: issue.id,
    author,
    text: issue.fields.description?.text ?? '',
    createdAt: issue.fields.created,
    url: thread.url,
  };
  return intent({
    trigger,
    semanticKey: `${issue.id}/${key}`,
    actor,
    thread,
    repository: null,
    pullRequest: null,
    review: null,
    instruction,
    subject,
  });
}

/** A mention in prose; one that stands only in code or a quote is said to be that. */
function spokenIn({ text, prose }: DocumentText, context: ReadingContext): TriggerKind | Reading {
  const trigger = triggerOf({ text: prose, syntax: 'wiki', trigger: 'mention' }, context);
  if (typeof trigger === 'string' || text === prose) return trigger;
  return addressOf(text, 'wiki', { name: context.own.mention, ids: context.own.ids }) === 'none'
    ? trigger
    : ignored('quoted-only');
}

function commented(issue: Issue, said: z.output<typeof comment>, context: ReadingContext): Reading {
  const actor = actorOf(said.author);
  if (actor === null) return ignored('unreadable', 'comment.author');
  const refused = refusedActor(actor, context, { text: said.body.text });
  if (refused !== null) return refused;
  const trigger = spokenIn(said.body, context);
  if (typeof trigger !== 'string') return trigger;
  const instruction = { id: said.id, author: actor, text: said.body.text, createdAt: said.created, url: null };
  const confidential = (said.visibility !== null && said.visibility !== undefined) || said.jsdPublic === false;
  return intentOf({ issue, actor, trigger, key: `comment/${said.id}`, instruction, confidential });
}

function wordless(
  issue: Issue,
  { by, trigger, key }: { readonly by: User | null; readonly trigger: 'label' | 'assignment'; readonly key: string },
  context: ReadingContext,
): Reading {
  const actor = actorOf(by);
  if (actor === null) return ignored('unreadable', 'user');
  const refused = refusedActor(actor, context);
  if (refused !== null) return refused;
  if (threadOf(issue, false).state === 'closed') return ignored('closed');
  return intentOf({
    issue,
    actor,
    trigger,
    key,
    instruction: { id: trigger, author: actor, text: '', createdAt: null, url: null },
  });
}

const labelsOf = (whole: string | null): Set<string> =>
  new Set((whole ?? '').split(/\s+/).filter((each) => each !== ''));

const updated = reads(
  fields({
    user: maybe(user),
    issue,
    comment: maybe(comment),
    changelog: maybe(changelog),
    issue_event_type_name: maybe(name),
  }),
  (body, context) => {
    const { issue, changelog, comment } = body;
    // A comment is sent as an update of its issue too, under the same semantic key.
    if (changelog === null)
      return comment === null || body.issue_event_type_name !== 'issue_commented'
        ? ignored('no-trigger')
        : commented(issue, comment, context);
    const added = changelog.items
      .filter(({ field }) => field === 'labels')
      // Both are whole lists: what is new is in the second alone.
      .flatMap((item) => [...labelsOf(item.toString)].filter((each) => !labelsOf(item.fromString).has(each)));
    const key = `changelog/${changelog.id}`;
    if (added.some((label) => namesLabel(context, label)))
      return wordless(issue, { by: body.user, trigger: 'label', key }, context);
    const ours = changelog.items.some(
      ({ field, to }) => field === 'assignee' && to !== null && context.own.ids.includes(to),
    );
    return ours ? wordless(issue, { by: body.user, trigger: 'assignment', key }, context) : ignored('no-trigger');
  },
);

const created = reads(fields({ user: maybe(user), issue }), ({ user, issue }, context) => {
  if (issue.fields.labels.some((label) => namesLabel(context, label)))
    return wordless(issue, { by: user, trigger: 'label', key: 'created' }, context);
  const assignee = issue.fields.assignee === null ? null : idOf(issue.fields.assignee);
  if (assignee !== null && context.own.ids.includes(assignee))
    return wordless(issue, { by: user, trigger: 'assignment', key: 'created' }, context);
  const actor = actorOf(user);
  const description = issue.fields.description;
  if (actor === null || description === undefined) return ignored('no-trigger');
  const refused = refusedActor(actor, context, { text: description.text });
  if (refused !== null) return refused;
  const trigger = spokenIn(description, context);
  if (typeof trigger !== 'string') return trigger;
  const instruction = {
    id: issue.id,
    author: actor,
    text: description.text,
    createdAt: issue.fields.created,
    url: null,
  };
  return intentOf({ issue, actor, trigger, key: 'created', instruction });
});

/** By `webhookEvent` of the body. */
export const JIRA_EVENTS: Readonly<Record<string, EventReader>> = {
  'jira:issue_created': created,
  'jira:issue_updated': updated,
  'jira:issue_deleted': () => ignored('deleted'),
  comment_created: reads(fields({ issue, comment }), (body, context) => commented(body.issue, body.comment, context)),
  // Jira does not say what stood there before, so no edit can be seen to add a mention.
  comment_updated: () => ignored('edited'),
  comment_deleted: () => ignored('deleted'),
};

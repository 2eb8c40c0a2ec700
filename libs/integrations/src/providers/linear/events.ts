import { z } from 'zod';
import type { Actor, Passage, Reading, Thread, TriggerKind } from '../../intent.js';
import { commandOf } from '../../mention/mention.js';
import { fields, id, list, maybe, moment, name, text, title, url } from '../../reading/fields.js';
import {
  type EventReader,
  ignored,
  intent,
  lifecycle,
  namesLabel,
  reads,
  refusedActor,
  triggerOf,
} from '../../reading/reading.js';

const user = fields({ id, name: maybe(title) });
const team = maybe(fields({ id, key: maybe(name) }));
const childIssue = fields({ id, identifier: name, title, url, description: text, team });

const session = fields({
  id,
  url,
  creator: maybe(user),
  issue: maybe(childIssue),
  comment: maybe(fields({ id, body: text, userId: maybe(id) })),
  createdAt: moment,
});
const activity = fields({
  id,
  content: fields({ type: maybe(name), body: text }),
  signal: maybe(name),
  user: maybe(user),
  userId: maybe(id),
  createdAt: moment,
});

const userOf = (from: z.output<typeof user> | null): Actor | null =>
  from === null ? null : { id: from.id, login: from.name ?? from.id, kind: 'user' };
const teamOf = (from: z.output<typeof team>): { team?: string; teamKey?: string } =>
  from === null ? {} : { team: from.id, ...(from.key === null ? {} : { teamKey: from.key }) };
/** Neither a user nor an actor that an organization could list. */
const AUTOMATION: Actor = { id: '0', login: 'automation', kind: 'app' };

interface Said {
  readonly thread: Thread;
  readonly actor: Actor;
  readonly trigger: TriggerKind;
  readonly key: string;
  readonly instruction: Passage;
  readonly subject: Passage | null;
}

const said = ({ key, ...rest }: Said): Reading =>
  intent({ ...rest, semanticKey: key, repository: null, pullRequest: null, review: null });

const agentSession = reads(
  fields({ action: name, agentSession: session, agentActivity: maybe(activity), appUserId: maybe(id) }),
  ({ action, agentSession: from, agentActivity, appUserId }, context) => {
    const { issue, comment } = from;
    const thread: Thread = {
      kind: 'agent-session',
      key: `session/${from.id}`,
      place: { session: from.id, ...(issue === null ? {} : { issue: issue.id }), ...teamOf(issue?.team ?? null) },
      url: from.url ?? issue?.url ?? null,
      title: issue?.title ?? '',
      confidential: false,
      state: 'open',
    };
    // Whose issue it is, is not sent.
    const subject =
      issue === null
        ? null
        : {
            id: issue.id,
            author: { ...AUTOMATION, login: 'unknown' },
            text: issue.description,
            createdAt: null,
            url: issue.url,
          };
    const heard = (actor: Actor, passage: Omit<Passage, 'author'>, key: string, trigger: TriggerKind): Reading => {
      if (actor.id === appUserId) return ignored('own-act');
      return (
        refusedActor(actor, context, { text: passage.text }) ??
        said({ thread, actor, trigger, key, instruction: { ...passage, author: actor }, subject })
      );
    };
    if (action === 'created') {
      const passage = {
        id: comment?.id ?? from.id,
        text: comment?.body ?? '',
        createdAt: from.createdAt,
        url: from.url,
      };
      return heard(userOf(from.creator) ?? AUTOMATION, passage, thread.key, 'agent-session');
    }
    if (action !== 'prompted') return ignored('event-not-followed');
    if (agentActivity === null) return ignored('unreadable', 'agentActivity');
    const { id: activityId, content, signal, user, userId, createdAt } = agentActivity;
    const actor = userOf(user) ?? (userId === null ? AUTOMATION : { id: userId, login: userId, kind: 'user' as const });
    const trigger = signal === 'stop' ? 'stop' : (commandOf(content.body) ?? 'agent-session');
    return heard(
      actor,
      { id: activityId, text: content.body, createdAt, url: from.url },
      `${thread.key}/${activityId}`,
      trigger,
    );
  },
);

const about = { action: name, actor: maybe(fields({ id, name: maybe(title), type: maybe(name) })), url };

function actorOf(
  from: { readonly id: string; readonly name: string | null; readonly type: string | null } | null,
): Actor {
  if (from === null) return AUTOMATION;
  return {
    id: from.id,
    login: from.name ?? from.id,
    kind: from.type === null || from.type.toLowerCase() === 'user' ? 'user' : 'app',
  };
}

const ticket = (
  issue: { readonly id: string; readonly title: string; readonly team: z.output<typeof team> },
  at: string | null,
  closed: boolean,
): Thread => ({
  kind: 'ticket',
  key: `issue/${issue.id}`,
  place: { issue: issue.id, ...teamOf(issue.team) },
  url: at,
  title: issue.title,
  confidential: false,
  state: closed ? 'closed' : 'open',
});

const issueData = fields({
  id,
  title,
  description: text,
  team,
  state: maybe(fields({ type: maybe(name) })),
  labels: list(fields({ id, name })),
  assigneeId: maybe(id),
  delegateId: maybe(id),
  creator: maybe(user),
  botActor: z.unknown().optional(),
  createdAt: moment,
  updatedAt: moment,
});
/** Top-level, beside `data`: what the changed fields were. One that is missing did not change; `null` was empty. */
const before = maybe(
  fields({ labelIds: list(id).optional(), assigneeId: maybe(id).optional(), delegateId: maybe(id).optional() }),
);

const isBot = (botActor: unknown): boolean => botActor !== null && botActor !== undefined;

const issues = reads(
  fields({ ...about, data: issueData, updatedFrom: before }),
  ({ action, actor: by, url: at, data, updatedFrom }, context) => {
    if (action === 'remove') return ignored('deleted');
    if (action !== 'create' && action !== 'update') return ignored('event-not-followed');
    const fresh = action === 'create';
    const had = new Set(updatedFrom?.labelIds ?? []);
    const labelled =
      (fresh || updatedFrom?.labelIds !== undefined) &&
      data.labels.some((each) => !had.has(each.id) && namesLabel(context, each.name));
    const became = (field: 'assigneeId' | 'delegateId'): boolean =>
      (fresh || (updatedFrom !== null && updatedFrom[field] !== undefined)) &&
      data[field] !== null &&
      context.own.ids.includes(data[field]);
    const actor = isBot(data.botActor) && by === null ? AUTOMATION : actorOf(by);
    const thread = ticket(data, at, data.state?.type === 'completed' || data.state?.type === 'canceled');
    const described = {
      id: data.id,
      author: userOf(data.creator) ?? AUTOMATION,
      text: data.description,
      createdAt: data.createdAt,
      url: at,
    };
    const key = `${thread.key}@${data.updatedAt ?? ''}`;
    if (labelled || became('assigneeId') || became('delegateId')) {
      const refused = refusedActor(actor, context);
      if (refused !== null) return refused;
      if (thread.state === 'closed') return ignored('closed');
      const trigger = labelled ? 'label' : 'assignment';
      return said({
        thread,
        actor,
        trigger,
        key,
        instruction: { ...described, id: trigger, author: actor, text: '' },
        subject: described,
      });
    }
    if (!fresh) return ignored('no-trigger');
    const refused = refusedActor(actor, context, { text: data.description });
    if (refused !== null) return refused;
    const trigger = triggerOf({ text: data.description, syntax: 'markdown', trigger: 'mention' }, context);
    return typeof trigger === 'string'
      ? said({ thread, actor, trigger, key, instruction: { ...described, author: actor }, subject: described })
      : trigger;
  },
);

const commentData = fields({
  id,
  body: text,
  issue: maybe(childIssue),
  user: maybe(user),
  externalUser: maybe(user),
  botActor: z.unknown().optional(),
  createdAt: moment,
});

const comments = reads(fields({ ...about, data: commentData }), ({ action, actor: by, url: at, data }, context) => {
  if (action === 'update') return ignored('edited');
  if (action === 'remove') return ignored('deleted');
  if (action !== 'create') return ignored('event-not-followed');
  if (data.issue === null) return ignored('event-not-followed', 'comment of no issue');
  const external = userOf(data.externalUser);
  const actor = isBot(data.botActor)
    ? { ...actorOf(by), kind: 'bot' as const }
    : external === null
      ? actorOf(by)
      : { ...external, foreign: true as const };
  const refused = refusedActor(actor, context, { text: data.body });
  if (refused !== null) return refused;
  const trigger = triggerOf({ text: data.body, syntax: 'markdown', trigger: 'mention' }, context);
  if (typeof trigger !== 'string') return trigger;
  const instruction = { id: data.id, author: actor, text: data.body, createdAt: data.createdAt, url: at };
  return said({
    thread: ticket(data.issue, data.issue.url, false),
    actor,
    trigger,
    key: `comment/${data.id}`,
    instruction,
    subject: null,
  });
});

const organization = fields({ action: name, organizationId: id, userId: maybe(id) });
const accessChanged = reads(organization, ({ organizationId }) =>
  lifecycle({ kind: 'access-changed', account: organizationId }),
);

/** By `type` of the body. */
export const LINEAR_EVENTS: Readonly<Record<string, EventReader>> = {
  AgentSessionEvent: agentSession,
  Issue: issues,
  Comment: comments,
  PermissionChange: accessChanged,
  AppUserTeamAccessChanged: accessChanged,
  OAuthApp: reads(organization, ({ action, organizationId }) =>
    action === 'revoked' ? lifecycle({ kind: 'removed', account: organizationId }) : ignored('event-not-followed'),
  ),
  OAuthAuthorization: reads(organization, ({ action, userId }) =>
    action === 'revoked' && userId !== null
      ? lifecycle({ kind: 'authorization-revoked', actorId: userId })
      : ignored('event-not-followed'),
  ),
};

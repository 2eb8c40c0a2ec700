import { z } from 'zod';
import type { Actor, Passage, Reading, Thread, TriggerKind } from '../../intent.js';
import type { ReadingContext } from '../../provider.js';
import { fields, id, list, maybe, moment, name, text } from '../../reading/fields.js';
import { type EventReader, ignored, intent, lifecycle, reads, refusedActor, triggerOf } from '../../reading/reading.js';
import { pressOf } from './buttons.js';

/** Slack's own helper, which posts in every workspace. */
const SLACKBOT = 'USLACKBOT';
/** Subtypes of messages written by a user; those without one are too. */
const WRITTEN = new Set(['file_share', 'thread_broadcast']);

const message = fields({
  user: maybe(id),
  bot_id: maybe(id),
  app_id: maybe(id),
  subtype: maybe(name),
  text,
  ts: name,
  thread_ts: maybe(name),
  channel: id,
  channel_type: maybe(name),
  team: maybe(id),
  user_team: maybe(id),
});
const callback = fields({ team_id: id, event: message });

type Message = z.output<typeof message>;

function actorOf(team: string, { user, bot_id, app_id, user_team, team: home }: Message): Actor {
  const who = user ?? bot_id ?? app_id ?? '0';
  const foreign = (user_team ?? home ?? team) !== team;
  return {
    id: who,
    login: who,
    kind: bot_id !== null || user === SLACKBOT || user === null ? 'bot' : 'user',
    ...(foreign ? { foreign: true as const } : {}),
  };
}

function threadOf(team: string, channel: string, ts: string, type: string | null): Thread {
  const direct = type === 'im' || (type === null && channel.startsWith('D'));
  return {
    kind: direct ? 'direct-message' : 'channel-thread',
    key: `${team}/${channel}/${ts}`,
    place: { team, channel, ts },
    url: null,
    title: '',
    // A channel whose kind is not said may be private: then nothing of it is said elsewhere.
    confidential: type !== 'channel',
    state: 'open',
  };
}

interface Heard {
  readonly team: string;
  readonly message: Message;
  readonly actor: Actor;
  readonly thread: Thread;
}

function said({ team, message, actor, thread }: Heard, trigger: TriggerKind): Reading {
  const instruction: Passage = { id: message.ts, author: actor, text: message.text, createdAt: message.ts, url: null };
  // `app_mention` and `message` of one message are two events with two ids.
  const semanticKey = `${team}/${message.channel}/${message.ts}`;
  return intent({
    trigger,
    semanticKey,
    actor,
    thread,
    repository: null,
    pullRequest: null,
    review: null,
    instruction,
    subject: null,
  });
}

function heard(body: z.output<typeof callback>, context: ReadingContext, mentioned: boolean): Reading {
  const { team_id: team, event } = body;
  if (event.subtype === 'message_changed') return ignored('edited');
  if (event.subtype === 'message_deleted') return ignored('deleted');
  const actor = actorOf(team, event);
  if (event.bot_id !== null && context.own.ids.includes(event.bot_id)) return ignored('own-act');
  const refused = refusedActor(actor, context, { text: event.text, app: event.app_id });
  if (refused !== null) return refused;
  if (event.subtype !== null && event.subtype !== 'bot_message' && !WRITTEN.has(event.subtype))
    return ignored('system-note');
  const thread = threadOf(team, event.channel, event.thread_ts ?? event.ts, event.channel_type);
  const direct = thread.kind === 'direct-message';
  const reply = event.thread_ts !== null && context.ours(thread.key);
  const trigger = triggerOf(
    {
      text: event.text,
      syntax: 'mrkdwn',
      trigger: direct ? 'direct-message' : reply ? 'thread-reply' : 'mention',
      unasked: direct || reply,
    },
    context,
  );
  if (typeof trigger === 'string') return said({ team, message: event, actor, thread }, trigger);
  // Slack says that we are mentioned; what we do not find is in its own code or quote.
  return mentioned && trigger.kind === 'ignored' ? ignored('quoted-only') : trigger;
}

const revoked = fields({ team_id: id, event: fields({ tokens: maybe(fields({ oauth: list(id), bot: list(id) })) }) });

export const SLACK_EVENTS: Readonly<Record<string, EventReader>> = {
  app_mention: reads(callback, (body, context) => heard(body, context, true)),
  message: reads(callback, (body, context) => heard(body, context, false)),
  tokens_revoked: reads(revoked, ({ team_id, event: { tokens } }) => {
    if ((tokens?.bot.length ?? 0) > 0) return lifecycle({ kind: 'removed', account: team_id });
    const [actorId] = tokens?.oauth ?? [];
    return actorId === undefined ? ignored('no-trigger') : lifecycle({ kind: 'authorization-revoked', actorId });
  }),
};

const action = fields({
  action_id: name,
  action_ts: moment,
  value: maybe(text),
  selected_option: maybe(fields({ value: maybe(text) })),
});
const pressed = fields({
  user: fields({ id, team_id: maybe(id), username: maybe(name) }),
  team: fields({ id }),
  channel: maybe(fields({ id })),
  container: maybe(fields({ channel_id: maybe(id), message_ts: maybe(name), thread_ts: maybe(name) })),
  actions: z.preprocess((value) => (Array.isArray(value) ? value.slice(0, 1) : value), z.tuple([action])),
});

/** Interactions: a form whose `payload` is this JSON. */
export const SLACK_ACTIONS: Readonly<Record<string, EventReader>> = {
  block_actions: reads(pressed, ({ user, team, channel, container, actions: [pressed] }, context) => {
    const home = user.team_id ?? team.id;
    const actor: Actor = {
      id: user.id,
      login: user.username ?? user.id,
      kind: 'user',
      ...(home === team.id ? {} : { foreign: true as const }),
    };
    const refused = refusedActor(actor, context);
    if (refused !== null) return refused;
    const where = container?.channel_id ?? channel?.id ?? null;
    const ts = container?.message_ts ?? null;
    // On a home tab or in a window there is no thread to answer in.
    if (where === null || ts === null) return ignored('no-trigger');
    const thread = threadOf(team.id, where, container?.thread_ts ?? ts, null);
    const text = pressed.selected_option?.value ?? pressed.value ?? '';
    const press = pressOf(pressed.action_id, pressed.value ?? '');
    return intent({
      trigger: 'button',
      semanticKey: `${team.id}/${where}/${ts}/${pressed.action_id}@${pressed.action_ts ?? ''}`,
      actor,
      thread,
      repository: null,
      pullRequest: null,
      review: null,
      instruction: { id: pressed.action_id, author: actor, text, createdAt: pressed.action_ts, url: null },
      subject: null,
      ...(press === null ? {} : { press }),
    });
  }),
};

import { z } from 'zod';
import { PageQuery, pageOf } from '../conversations/conversations.js';

/** `waiting`: it is not there yet, or not as it should be. */
export const THREAD_ANSWER_STATES = ['waiting', 'shown', 'given-up'] as const;
export const ThreadAnswerState = z.enum(THREAD_ANSWER_STATES);
export type ThreadAnswerState = z.infer<typeof ThreadAnswerState>;

/**
 * `comment`: the one in which a thread shows how far its conversation is, edited in place. `link`: a page that its
 * ticket points to. `move`: its ticket goes on.
 */
export const THREAD_ANSWER_KINDS = ['comment', 'link', 'move'] as const;

/** What a thread at a provider shows of its conversation. */
export const ThreadAnswer = z.object({
  kind: z.enum(THREAD_ANSWER_KINDS).default('comment'),
  connectionId: z.string(),
  provider: z.string(),
  threadTitle: z.string(),
  threadUrl: z.string().nullable(),
  state: ThreadAnswerState,
  /** Of the comment. `null`: it is not made yet, or the provider has named no address. */
  url: z.string().nullable(),
  /** Why it waits or was given up, in a sentence. */
  problem: z.string().nullable(),
  nextTryAt: z.iso.datetime().nullable(),
  updatedAt: z.iso.datetime(),
});
export type ThreadAnswer = z.infer<typeof ThreadAnswer>;
/** There is always one page: a conversation belongs to few threads. */
export const ThreadAnswerList = z.object({ data: z.array(ThreadAnswer) });
export type ThreadAnswerList = z.infer<typeof ThreadAnswerList>;

/** Most webhooks of one organization. */
export const MAX_WEBHOOKS = 20;

/** Events of a webhook. `conversation.waiting`: for approval of the next step. `webhook.test` is sent on request. */
export const WEBHOOK_EVENTS = [
  'conversation.finished',
  'conversation.failed',
  'conversation.waiting',
  'pull-request.opened',
  'pull-request.merged',
  'pull-request.closed',
] as const;
export const WebhookEvent = z.enum(WEBHOOK_EVENTS);
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/**
 * `disabled`: by a user. `failing`: by Slipway, since nothing was taken for days; changing `disabled` to false tries
 * again.
 */
export const WEBHOOK_STATES = ['active', 'disabled', 'failing'] as const;
export const WebhookState = z.enum(WEBHOOK_STATES);
export type WebhookState = z.infer<typeof WebhookState>;

const webhookName = z.string().trim().min(1).max(100);
/** Https at a public address. */
const webhookUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .regex(/^[^#]*$/, 'has no fragment');
const webhookEvents = z
  .array(WebhookEvent)
  .min(1)
  .max(WEBHOOK_EVENTS.length)
  .transform((events) => [...new Set(events)]);

/** An address of the organization's own that is sent what becomes of its conversations, signed by Standard Webhooks. */
export const OutgoingWebhook = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string(),
  events: z.array(WebhookEvent),
  state: WebhookState,
  /** With `failing`: why, in a sentence. */
  stateReason: z.string().nullable(),
  /** Until then messages are signed with the secret before the present one, too. */
  oldSecretUntil: z.iso.datetime().nullable(),
  /** Since then nothing was taken; `null`: the last message was, or there was none. */
  failingSince: z.iso.datetime().nullable(),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type OutgoingWebhook = z.infer<typeof OutgoingWebhook>;
/** By name; there is always one page. */
export const OutgoingWebhookList = z.object({ data: z.array(OutgoingWebhook) });
export type OutgoingWebhookList = z.infer<typeof OutgoingWebhookList>;

export const CreateOutgoingWebhook = z.strictObject({ name: webhookName, url: webhookUrl, events: webhookEvents });
export type CreateOutgoingWebhook = z.infer<typeof CreateOutgoingWebhook>;

/** What is left out stays. */
export const UpdateOutgoingWebhook = z.strictObject({
  name: webhookName.optional(),
  url: webhookUrl.optional(),
  events: webhookEvents.optional(),
  disabled: z.boolean().optional(),
});
export type UpdateOutgoingWebhook = z.infer<typeof UpdateOutgoingWebhook>;

/** Of a webhook that was made, or whose secret was replaced: the only answer that has the secret. */
export const OutgoingWebhookWithSecret = z.object({
  webhook: OutgoingWebhook,
  /** `whsec_` and base64, as Standard Webhooks has it. */
  signingSecret: z.string(),
});
export type OutgoingWebhookWithSecret = z.infer<typeof OutgoingWebhookWithSecret>;

export const WEBHOOK_MESSAGE_STATES = ['waiting', 'delivered', 'given-up'] as const;
export const WebhookMessageState = z.enum(WEBHOOK_MESSAGE_STATES);
export type WebhookMessageState = z.infer<typeof WebhookMessageState>;

/** One message in the log of a webhook. */
export const WebhookMessage = z.object({
  /** `webhook-id` of the message, the same at every attempt. */
  id: z.string(),
  event: z.string(),
  conversationId: z.uuid().nullable(),
  /** What is sent: ids and states. */
  body: z.string(),
  state: WebhookMessageState,
  attempts: z.int().nonnegative(),
  /** While it waits. */
  nextTryAt: z.iso.datetime().nullable(),
  lastTryAt: z.iso.datetime().nullable(),
  /** Of the last answer; `null`: there was none. */
  lastStatus: z.int().nullable(),
  /** The first characters of the last answer. */
  lastAnswer: z.string().nullable(),
  /** Why the last attempt failed, in a sentence. */
  problem: z.string().nullable(),
  createdAt: z.iso.datetime(),
});
export type WebhookMessage = z.infer<typeof WebhookMessage>;
export const WebhookMessagePage = pageOf(WebhookMessage);
export type WebhookMessagePage = z.infer<typeof WebhookMessagePage>;
export const ListWebhookMessagesQuery = PageQuery.extend({ state: WebhookMessageState.optional() });
export type ListWebhookMessagesQuery = z.infer<typeof ListWebhookMessagesQuery>;

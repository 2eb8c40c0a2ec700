import { z } from 'zod';
import { AnswerConfirmation } from '../conversations/confirmation.js';
import { QueuedMessage } from '../conversations/conversations.js';
import { DeskConversation, DeskMark, ReadMark } from '../conversations/desk.js';
import { LoggedEvent, StreamingDelta } from './conversation-event.js';

/**
 * The socket.io protocol of app-server, path `/socket.io`. The client holds the cursor; the server never remembers one
 * across connections.
 */

/**
 * Client → server, event `subscribe`, answered by acknowledgement with `SubscribeAnswer`. Subscribing again moves the
 * cursor.
 */
export const Subscribe = z.object({ orgId: z.string(), conversationId: z.uuid(), afterSeq: z.int().nonnegative() });
export type Subscribe = z.infer<typeof Subscribe>;
export const SubscribeAnswer = z.union([
  z.object({ ok: z.literal(true), head: z.int().nonnegative() }),
  z.object({ ok: z.literal(false), code: z.string(), detail: z.string() }),
]);
export type SubscribeAnswer = z.infer<typeof SubscribeAnswer>;

/** Client → server, event `unsubscribe`. */
export const Unsubscribe = z.object({ conversationId: z.uuid() });

/**
 * Client → server, event `confirm`, answered by acknowledgement with `ConfirmAnswer`: what `POST …/confirmation` does.
 * Of several answers, wherever they come from, the first counts; the others get `conversation.nothing-to-confirm`.
 */
export const Confirm = z.object({ orgId: z.string(), conversationId: z.uuid(), ...AnswerConfirmation.shape });
export type Confirm = z.infer<typeof Confirm>;
export const ConfirmAnswer = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), code: z.string(), detail: z.string() }),
]);
export type ConfirmAnswer = z.infer<typeof ConfirmAnswer>;

/**
 * Server → client, event `events`: consecutive lines, ascending. A client applies only `last + 1` and subscribes again
 * on a gap.
 */
export const EventsFrame = z.object({ conversationId: z.uuid(), events: z.array(LoggedEvent) });
export type EventsFrame = z.infer<typeof EventsFrame>;

/** Server → client, event `delta`. May be lost or joined with the next. */
export const DeltaFrame = z.object({ conversationId: z.uuid(), delta: StreamingDelta });
export type DeltaFrame = z.infer<typeof DeltaFrame>;

/** Server → client, event `inbox`: the whole list of messages not yet in the log, whenever it changes. */
export const InboxFrame = z.object({ conversationId: z.uuid(), messages: z.array(QueuedMessage) });
export type InboxFrame = z.infer<typeof InboxFrame>;

/** Server → client, event `review`: threads or comments of its review are others now; the client reads them again. */
export const ReviewFrame = z.object({ conversationId: z.uuid() });
export type ReviewFrame = z.infer<typeof ReviewFrame>;

/**
 * Server → client, event `resume`, then a disconnect: the client reads too slowly. It connects again and subscribes
 * after `afterSeq`.
 */
export const ResumeFrame = z.object({
  conversationId: z.uuid(),
  code: z.enum(['slow-consumer', 'draining']),
  afterSeq: z.int().nonnegative(),
});
export type ResumeFrame = z.infer<typeof ResumeFrame>;

/**
 * Server → client, event `gone`: the conversation has been deleted. The subscription has ended; the next one is refused
 * with `resource.not-found` until it is restored.
 */
export const GoneFrame = z.object({ conversationId: z.uuid() });
export type GoneFrame = z.infer<typeof GoneFrame>;

/**
 * Client → server, event `subscribe_org`, answered by acknowledgement with `SubscribeOrgAnswer`: changes of all
 * conversations of an organization from now on. The client reads `GET …/desk` after the answer: what changed before is
 * in it.
 */
export const SubscribeOrg = z.object({ orgId: z.string() });
export type SubscribeOrg = z.infer<typeof SubscribeOrg>;
export const SubscribeOrgAnswer = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), code: z.string(), detail: z.string() }),
]);
export type SubscribeOrgAnswer = z.infer<typeof SubscribeOrgAnswer>;

/** Client → server, event `unsubscribe_org`. */
export const UnsubscribeOrg = z.object({ orgId: z.string() });

/**
 * Server → client, event `desk`: conversations that changed, as they are now, and those that are gone. `stale`: some
 * were left out because the client, or the server, was behind; it reads `GET …/desk` again.
 */
export const DeskFrame = z.object({
  orgId: z.string(),
  changed: z.array(DeskConversation),
  gone: z.array(z.uuid()),
  stale: z.boolean(),
});
export type DeskFrame = z.infer<typeof DeskFrame>;

/** Server → client, event `mark`, to the sockets of the user whose mark it is. */
export const MarkFrame = z.object({
  orgId: z.string(),
  conversationId: z.uuid(),
  mark: z.object({ ...ReadMark.shape, ...DeskMark.shape }),
});
export type MarkFrame = z.infer<typeof MarkFrame>;

/** A socket with this much unsent stops getting deltas, then is moved to pull mode. */
export const SOCKET_MAX_FRAMES = 256;
/** Bytes. */
export const SOCKET_MAX_BYTES = 1024 * 1024;

/**
 * Messages of one replica to the others through the hint bus. A lost hint costs latency: receivers read from the log.
 */
export const Hint = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('events'),
    orgId: z.string(),
    conversationId: z.uuid(),
    head: z.int(),
    from: z.string(),
    /** When they were committed. Milliseconds since 1970; for metrics only. */
    at: z.number().optional(),
  }),
  z.object({
    kind: z.literal('delta'),
    orgId: z.string(),
    conversationId: z.uuid(),
    delta: StreamingDelta,
    from: z.string(),
  }),
  z.object({ kind: z.literal('inbox'), orgId: z.string(), conversationId: z.uuid(), from: z.string() }),
  z.object({ kind: z.literal('review'), orgId: z.string(), conversationId: z.uuid(), from: z.string() }),
  z.object({ kind: z.literal('gone'), orgId: z.string(), conversationId: z.uuid(), from: z.string() }),
  z.object({
    kind: z.literal('mark'),
    orgId: z.string(),
    conversationId: z.uuid(),
    userId: z.string(),
    from: z.string(),
  }),
]);
export type Hint = z.infer<typeof Hint>;

/**
 * How often app-server says on each socket that it is there. Milliseconds; a page takes a connection that is silent for
 * longer than two of these for lost.
 */
export const SOCKET_PING_MS = 4_000;

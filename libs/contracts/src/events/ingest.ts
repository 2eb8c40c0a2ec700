import { z } from 'zod';
import { ConversationEvent, StreamingDelta } from './conversation-event.js';

/**
 * How events leave a sandbox. Served by app-server under `/ingest/v1/conversations/{id}`; `Authorization: Bearer
 * <ingest token>`.
 */

/** Most events in one batch. */
export const MAX_INGEST_EVENTS = 500;
/** Largest ingest body. Bytes. */
export const MAX_INGEST_BYTES = 8 * 1024 * 1024;
/** A conversation whose sandbox says nothing for this long is taken over. Milliseconds. */
export const LEASE_MS = 10_000;
/**
 * How often a sandbox with nothing to say sends an empty batch. Milliseconds; a third of the lease, so two may be lost.
 */
export const HEARTBEAT_MS = 3_000;

/** `POST …/events`. An empty `events` is the heartbeat that renews the lease. */
export const IngestBatch = z.object({
  epoch: z.int().positive(),
  /** `producerSeq` counts 1, 2, 3 … within one epoch; a repeated one is acknowledged and not stored again. */
  events: z.array(z.object({ producerSeq: z.int().positive(), event: ConversationEvent })).max(MAX_INGEST_EVENTS),
  traceparent: z.string().max(100).optional(),
});
export type IngestBatch = z.infer<typeof IngestBatch>;

/**
 * Everything up to `ackedProducerSeq` is committed. A stale epoch is a 409 `ingest.stale-epoch`; a hole is a 409
 * `ingest.gap` with the same two numbers in the body.
 */
export const IngestAck = z.object({ ackedProducerSeq: z.int().nonnegative(), head: z.int().nonnegative() });
export type IngestAck = z.infer<typeof IngestAck>;

/**
 * `GET …/approvals`: actions of the latest approvals that users gave in the app under four eyes. A log cannot say so:
 * whoever has an ingest token writes it.
 */
export const IngestApprovals = z.object({ action_ids: z.array(z.string()) });
export type IngestApprovals = z.infer<typeof IngestApprovals>;

/** `POST …/deltas`. Best effort, unordered against events, never stored: answers 204. */
export const IngestDeltas = z.object({ epoch: z.int().positive(), deltas: z.array(StreamingDelta).max(200) });
export type IngestDeltas = z.infer<typeof IngestDeltas>;

/** What an ingest token says (a JWT, HS256 with INGEST_SECRET, audience `slipway-ingest`). */
export const IngestClaims = z.object({ org: z.string(), conversation: z.uuid(), epoch: z.int().positive() });
export type IngestClaims = z.infer<typeof IngestClaims>;

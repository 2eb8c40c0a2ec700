import { z } from 'zod';

/** Largest egress budget of a day. Megabytes: 10 TB. */
export const MAX_EGRESS_MB = 10_000_000;
/** Most bytes of one reservation. */
export const MAX_EGRESS_GRANT_BYTES = 16 * 1024 * 1024;

const Grant = z.string().regex(/^[A-Za-z0-9_-]{20,60}$/);

/**
 * `POST /internal/egress/v1/bytes`, signed with EGRESS_CONTROL_SECRET: egress-proxy reserves bytes before it sends
 * them, and says of those before how many it sent. The same grant again is the same reservation.
 */
export const EgressBytesQuestion = z.strictObject({
  org: z.string().min(1).max(100),
  conversation: z.string().min(1).max(200).nullable(),
  /** Where to, in ASCII. */
  host: z.string().min(1).max(253),
  /** Grants of this conversation that are over. */
  settled: z.array(z.strictObject({ grant: Grant, used: z.int().min(0) })).max(16),
  /** `null`: nothing more is needed. */
  reserve: z.strictObject({ grant: Grant, bytes: z.int().min(1).max(MAX_EGRESS_GRANT_BYTES) }).nullable(),
});
export type EgressBytesQuestion = z.infer<typeof EgressBytesQuestion>;

export const EgressBytes = z.object({
  /** The organization has an egress budget; without one nothing has to be reserved. */
  limited: z.boolean(),
  /** That were reserved: fewer than asked for where fewer are left. */
  bytes: z.int().min(0),
  /** Whose budget has nothing left, of those that bound this reservation. */
  over: z.enum(['conversation', 'host']).nullable(),
  /** When it begins anew. */
  renewsAt: z.iso.datetime(),
});
export type EgressBytes = z.infer<typeof EgressBytes>;

import { z } from 'zod';

/** What egress-proxy counts of connections, and sends to app-server. */

/** Rows of one batch. */
export const MAX_TALLY_ROWS = 1_000;
/** Host and port of one conversation in one hour that are counted by themselves; all others are one row. */
export const MAX_TALLY_HOSTS = 200;
/** In the place of a host, with port 0: all that are past `MAX_TALLY_HOSTS`. It is the name of no host. */
export const OTHER_HOSTS = '(others)';
/** After so many days a count is deleted. */
export const EGRESS_TALLY_DAYS = 90;
/** Verdict of what was let through; any other is the reason of a refusal. */
export const LET_THROUGH = 'allowed';

const Count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** What was counted of one host since the batch before. */
export const EgressTally = z.strictObject({
  conversation: z.string().min(1).max(200),
  /** Hours since 1970, in which it was counted. */
  hour: z.int().min(0),
  host: z.string().min(1).max(253),
  /** 0: of `OTHER_HOSTS`. */
  port: z.int().min(0).max(65_535),
  /** `LET_THROUGH`, or the reason of the refusal. */
  verdict: z.string().min(1).max(40),
  /** What let it through, as the decision said; '' for none. */
  rule: z.string().max(100),
  /** The installation lists the host. */
  listed: z.boolean(),
  /** That began. */
  connections: Count,
  bytesOut: Count,
  bytesIn: Count,
});
export type EgressTally = z.infer<typeof EgressTally>;

/**
 * Counts of one organization. A process sends its batches of an organization one after the other, the next only after
 * the one before was answered: one with a number that is not above the last counted one is a repetition.
 */
export const EgressTallyBatch = z.strictObject({
  org: z.string().min(1).max(100),
  /** The process that counted, by a name that it has given itself at its start. */
  source: z.uuid(),
  seq: z.int().min(1),
  rows: z.array(EgressTally).min(1).max(MAX_TALLY_ROWS),
});
export type EgressTallyBatch = z.infer<typeof EgressTallyBatch>;

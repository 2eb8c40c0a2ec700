import type { Usage } from '../calls/usage.js';
import type { StoredKey } from '../keys/keys.queries.js';

/** What a call can come to at most, before it is sent; `CallBound` (call-bound.ts) makes it. */
export interface Claim {
  /** As the caller named it. */
  readonly model: string;
  /** USD; `null` when the price is unknown: then only calls and tokens are limited. */
  readonly maxCostUsd: number | null;
  /**
   * USD: its prompt and a short answer. What is left of a budget between this and `maxCostUsd` is still of use: the
   * call gets a smaller ceiling. Absent: all or nothing.
   */
  readonly minCostUsd?: number | null;
  /**
   * Upper bound of the prompt alone: what counts against the tokens per minute before the call; its usage corrects it
   * afterwards. Absent: `maxTokens`.
   */
  readonly promptTokens?: number;
  /** Prompt and longest answer together. */
  readonly maxTokens: number;
}

/**
 * What a call's row in the ledger must say (`LedgerEntry.holder`, `.accounts`), so that its cost leaves what was held
 * for it in the same commit.
 */
export interface Draw {
  /** Instance id of the process that held it; `null`: no budget limits the call. */
  readonly holder: string | null;
  readonly accounts: readonly number[];
}

/** A call that was let in, in all that limits it: organization, member, key, conversation. */
export interface Admission {
  /**
   * USD that this call may come to: the limit of its answer is written into the request by it (`CallBound.limitFor`).
   * `null`: no limit.
   */
  readonly ceilingUsd: number | null;
  readonly draw: Draw;
  /** `x-ratelimit-…` of the tightest limits, for the answer; empty where there is none. */
  headers(): Readonly<Record<string, string>>;
  /**
   * Settles the cost, once (later ones are ignored): the cost of its ledger entry, or 0 when no entry is written. Until
   * then the largest cost is held back, and at most for its hold time if this process dies. Never throws.
   */
  settle(usage: Usage, costUsd: number): void;
  /**
   * Lets one more attempt of the same call in: as much money as the claim says, beside what is held already. @throws
   * (rejects) as `Admitter.admit`.
   */
  another(signal: AbortSignal): Admission | Promise<Admission>;
}

/**
 * Lets calls in, or not. Answers at once while this replica holds enough of each budget; asks Postgres near a limit.
 * @throws SlipwayError `budget.exhausted`; `rate.limited` (with `retryAfterSeconds`), also when all that is left of a
 * budget is held by calls under way; `service.unavailable` when the authority is away and the setting says closed.
 */
export interface Admitter {
  admit(key: StoredKey, claim: Claim, signal: AbortSignal): Admission | Promise<Admission>;
}

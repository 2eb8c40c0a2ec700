import type { Usage } from '../completions/usage.js';
import type { StoredKey } from '../keys/keys.queries.js';

/** What a call can come to at most, before it is sent. */
export interface Claim {
  /** As the caller named it. */
  readonly model: string;
  /** USD; `null` when nobody knows the price: then only calls and tokens are limited. */
  readonly maxCostUsd: number | null;
  /** Prompt and longest answer together. */
  readonly maxTokens: number;
}

/** A call that was let in, in all that limits it: organization, member, key, conversation. */
export interface Admission {
  /** USD that this call may come to; a stream that reaches it is ended with `budget.exhausted` after a last usage frame. `null`: no limit. */
  readonly ceilingUsd: number | null;
  /** What it came to, once; until then the largest cost is held back, and no longer than its hold lives should this process die. Never throws. */
  settle(usage: Usage, costUsd: number): void;
}

/**
 * Lets calls in, or not. Answers at once while this replica holds enough of each budget; asks Postgres near a limit.
 * @throws SlipwayError `budget.exhausted`, `rate.limited` (with `retryAfterSeconds`), `service.unavailable` when the authority is away and the setting says closed.
 */
export interface Admitter {
  admit(key: StoredKey, claim: Claim, signal: AbortSignal): Admission | Promise<Admission>;
}

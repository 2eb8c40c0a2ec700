import type { ErrorCode } from '@slipway/contracts/errors';
import { ERRORS } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';

/** First wait and longest wait between two attempts. Milliseconds. */
const BASE_MS = 500;
const MAX_MS = 30_000;
/** A provider that asks for a longer wait than this is given up: a run must not block for minutes. Seconds. */
const MAX_RETRY_AFTER_S = 120;

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly retries: number;
  readonly random: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onRetry: (failure: { code: ErrorCode; detail: string; attempt: number; waitMs: number }) => void;
}

/**
 * The wait before the next attempt, or `null` when the failure is final. Exponential with full jitter above half;
 * `Retry-After` is a lower bound.
 */
export function retryWaitMs(
  error: unknown,
  attempt: number,
  policy: Pick<RetryPolicy, 'retries' | 'random'>,
): number | null {
  if (!(error instanceof SlipwayError) || ERRORS[error.code].retry !== 'later' || attempt > policy.retries) return null;
  const exponential = Math.min(MAX_MS, BASE_MS * 2 ** (attempt - 1));
  const jittered = exponential * (0.5 + policy.random() / 2);
  const asked = error.more.retryAfterSeconds ?? 0;
  return asked > MAX_RETRY_AFTER_S ? null : Math.max(jittered, asked * 1000);
}

/**
 * Repeats `attempt` as long as its failure may pass. Stops at once when the signal is aborted. @throws the last
 * failure, or the signal's reason.
 */
export async function withRetries<T>(attempt: () => Promise<T>, policy: RetryPolicy, signal: AbortSignal): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const waitMs = retryWaitMs(error, number, policy);
      if (waitMs === null || !(error instanceof SlipwayError)) throw error;
      policy.onRetry({ code: error.code, detail: error.detail, attempt: number, waitMs });
      await policy.delay(waitMs, signal);
    }
  }
}

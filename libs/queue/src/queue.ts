import type { QueueName, QueuePayload } from '@slipway/contracts/operate';

/**
 * A job's work. Rejecting repeats it later; `signal` ends it when the queue closes or another worker took the job over.
 */
export type JobHandler<Q extends QueueName> = (payload: QueuePayload<Q>, signal: AbortSignal) => Promise<void>;

/**
 * Durable jobs by name. Payloads are contracts of `QUEUES` and carry ids only.
 *
 * Contract, checked for every adapter by `describeQueue` (queue.contract.ts):
 * - of one name and `key` at most one job runs and at most one more waits.
 * - `add` while that job waits, is delayed or waits for its next attempt is the same job (with `delayMs` shorter it
 *   runs sooner).
 * - `add` while that job *runs* is never lost: the job runs once more after the run that is under way, whether that
 *   ends well or not.
 *   So a handler that reads the state when it begins (level-triggered) always sees what was written before `add`.
 * - a handler that rejects is repeated with growing delay, at most `MAX_ATTEMPTS` times; then the job is dropped and
 *   logged.
 *   Work that must not be lost stands in the outbox, whose sweep adds it again.
 * - the job of a process that died runs again elsewhere within `TAKEOVER_MS`; a handler must bear running twice, even
 *   for a moment at the same time.
 */
export interface Queue {
  /**
   * Rejects with `service.unavailable` when the backend does not take the job within 2 s; the caller relies on the
   * outbox then.
   */
  add<Q extends QueueName>(
    name: Q,
    payload: QueuePayload<Q>,
    options: { key: string; delayMs?: number },
  ): Promise<void>;
  /**
   * Begins to take jobs of `name`, `concurrency` at a time in this process. Once a name. A backend that is away is
   * waited for.
   */
  handle<Q extends QueueName>(name: Q, handler: JobHandler<Q>, options: { concurrency: number }): void;
  /** Rejects when the backend does not answer. For /ready. */
  ping(signal: AbortSignal): Promise<void>;
  /** Takes no more jobs, gives running ones 5 s, then aborts their signals. Their jobs run elsewhere. */
  close(): Promise<void>;
}

/** Attempts of one job before it is dropped. With `BACKOFF_CAP_MS` this spans about a minute. */
export const MAX_ATTEMPTS = 12;
/** Wait before the second attempt, doubled for each further one up to the cap. Milliseconds. */
export const BACKOFF_BASE_MS = 250;
export const BACKOFF_CAP_MS = 10_000;
/** A running job whose process does not renew it for this long is free again. Milliseconds; renewed at half of it. */
export const LOCK_MS = 5_000;
/** Poll interval of a worker for such jobs. Milliseconds. */
export const STALLED_INTERVAL_MS = 2_000;
/**
 * Longest from the death of a worker to its job running elsewhere: the lock's end, then up to two polls. Milliseconds.
 */
export const TAKEOVER_MS = LOCK_MS + 2 * STALLED_INTERVAL_MS;
/** Longest that `add` and `ping` wait. Milliseconds. */
export const ADD_TIMEOUT_MS = 2_000;

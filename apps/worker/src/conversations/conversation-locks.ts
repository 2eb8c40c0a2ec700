import { AdvisoryLocks, type HeldLock, PostgresSession } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';

/** Longest that a job waits for another job of the same conversation. Milliseconds; then it comes again. */
const WAIT_MS = 2_000;
const POLL_MIN_MS = 10;
const POLL_MAX_MS = 200;

/** Another job, here or elsewhere, holds the lock. */
export class LockBusy extends Error {
  override readonly name = 'LockBusy';
}

/** Locks of conversations and of leads, as `AdvisoryLocks`, for whose turn a job waits a while. */
export class ConversationLocks {
  private readonly locks: AdvisoryLocks;

  constructor(options: { databaseUrl: string; applicationName: string; logger: Logger }) {
    const session = new PostgresSession({
      url: options.databaseUrl,
      applicationName: `${options.applicationName}-locks`,
      onLost: (error) => options.logger.warn({ err: error }, 'lock connection lost, its jobs start again'),
    });
    this.locks = new AdvisoryLocks(
      session,
      () => new SlipwayError('service.unavailable', 'The lock on the conversation was lost.'),
    );
  }

  /**
   * Runs `work` while this process alone holds `name`.
   * @throws LockBusy when another holds it for longer than `waitMs`.
   */
  async withLock<T>(
    name: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
    waitMs = WAIT_MS,
  ): Promise<T> {
    const deadline = performance.now() + waitMs;
    for (let pause = POLL_MIN_MS; ; pause = Math.min(pause * 2, POLL_MAX_MS)) {
      signal.throwIfAborted();
      const attempt = await this.tryLock(name);
      if (attempt !== null) {
        try {
          return await work(AbortSignal.any([signal, attempt.signal]));
        } finally {
          await attempt.release();
        }
      }
      const left = deadline - performance.now();
      if (left <= 0) throw new LockBusy(`${name} is locked`);
      await Promise.race([
        wait(Math.min(pause, left)),
        ...(this.locks.holds(name) ? [this.locks.untilFree(name)] : []),
      ]);
    }
  }

  /** `null` when it is held, this process included. @throws when Postgres does not answer within seconds. */
  tryLock(name: string): Promise<HeldLock | null> {
    return this.locks.tryLock(name);
  }

  close(): Promise<void> {
    return this.locks.close();
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

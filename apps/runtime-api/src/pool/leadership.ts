import { setTimeout as wait } from 'node:timers/promises';
import { AdvisoryLocks, PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/** Any number, the same for every replica. */
const LOCK_KEY = 7_215_310;
/** How often a replica that does not lead asks again. Milliseconds. */
const RETRY_MS = 1_000;

/**
 * Runs `work` while this replica holds the advisory lock; again and again until `stop`. Its signal is aborted when the
 * lock may be lost. For a moment there may be two leaders: what they do is conditional on rows, so that costs nothing
 * but work.
 */
export async function leadWhile(
  db: SqlPool,
  logger: Logger,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const onLost = (error: Error): void => logger.warn({ err: error }, 'pool leadership connection lost, reconnecting');
  const locks = new AdvisoryLocks(new PostgresSession({ ...sessionOf(db, 'lead'), onLost }));
  while (!stop.aborted) {
    await tryToLead(locks, logger, stop, work).catch((error: unknown) => {
      if (!stop.aborted) logger.warn({ err: error }, 'pool leadership ended, will retry');
    });
    await wait(RETRY_MS, undefined, { signal: stop }).catch(() => {});
  }
  await locks.close();
}

async function tryToLead(
  locks: AdvisoryLocks,
  logger: Logger,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lock = await locks.tryLock(LOCK_KEY);
  if (lock === null) return;
  try {
    logger.info('pool leadership acquired');
    await work(AbortSignal.any([stop, lock.signal]));
  } finally {
    await lock.release();
  }
}

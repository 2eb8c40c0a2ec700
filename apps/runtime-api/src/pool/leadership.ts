import { setTimeout as wait } from 'node:timers/promises';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/** Any number, the same for every replica. */
const LOCK_KEY = 7_215_310;
/** How often a replica that does not lead asks again. Milliseconds. */
const RETRY_MS = 1_000;
/** How often the leader makes sure that its connection, and with it the lock, still is. Milliseconds. */
const HEARTBEAT_MS = 1_000;

/**
 * Runs `work` while this replica holds the advisory lock; again and again until `stop`.
 * Its signal is aborted when the lock may be lost. For a moment there may be two leaders: what they do is conditional on rows, so that costs nothing but work.
 */
export async function leadWhile(db: SqlPool, logger: Logger, stop: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await tryToLead(db, logger, stop, work).catch((error: unknown) => {
      if (!stop.aborted) logger.warn({ err: error }, 'leading the pool ended; trying again');
    });
    await wait(RETRY_MS, undefined, { signal: stop }).catch(() => {});
  }
}

async function tryToLead(db: SqlPool, logger: Logger, stop: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const client = await db.connect();
  const lost = new AbortController();
  const onError = (error: Error): void => lost.abort(error);
  client.on('error', onError);
  let heartbeat: NodeJS.Timeout | undefined;
  let broken = true;
  try {
    const { rows } = await client.query<{ won: boolean }>('SELECT pg_try_advisory_lock($1) AS won', [LOCK_KEY]);
    if (rows[0]?.won !== true) {
      broken = false;
      return;
    }
    logger.info('leading the pool');
    let answered = true;
    heartbeat = setInterval(() => {
      if (!answered) return lost.abort(new Error('the database does not answer'));
      answered = false;
      client.query('SELECT 1').then(() => {
        answered = true;
      }, onError);
    }, HEARTBEAT_MS);
    await work(AbortSignal.any([stop, lost.signal]));
  } finally {
    clearInterval(heartbeat);
    client.removeListener('error', onError);
    // Ending the connection ends the lock.
    client.release(broken);
  }
}

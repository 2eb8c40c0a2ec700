import { QUEUES } from '@slipway/contracts/operate';
import { endSilent } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { Queue as BullMqQueue, createPostgresBackend, Worker } from 'bullmq';
import pg from 'pg';
import type { BullBackend } from '../bull-queue.js';
import { QUEUE_SCHEMA } from '../migrate/migrate-queue.js';

/**
 * Beside the one by which each handled queue listens all the time: shared by all queues. With none, no job is added or
 * done.
 */
const SHARED_CONNECTIONS = 5;
const MAX_CONNECTIONS = Object.keys(QUEUES).length + SHARED_CONNECTIONS;
/** Longest wait for one answer; then the connection is given up. Milliseconds. */
const QUERY_TIMEOUT_MS = 10_000;
/** Longest wait for the answer to a ping. Milliseconds. */
const PING_MS = 2_000;

/**
 * BullMQ on Postgres: jobs in the schema "bullmq", wake-ups by LISTEN. @throws when the database does not answer, or
 * `migrateQueue` has not run.
 */
export async function openPostgresBackend(options: {
  databaseUrl: string;
  applicationName: string;
  logger: Logger;
}): Promise<BullBackend> {
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // A silent network failure of the listener goes unnoticed; BullMQ polls for jobs every five seconds anyway.
    keepAliveInitialDelayMillis: 10_000,
    options: `-c search_path=${QUEUE_SCHEMA}`,
  });
  // Every queue and every worker of BullMQ adds a listener of its own to the pool that they share: no leak.
  pool.setMaxListeners(0);
  // Idle or in use, and more than once; without a listener that would end the process.
  pool.on('connect', (client) =>
    client.once('error', (error) => options.logger.warn({ err: error }, 'queue connection lost')).on('error', () => {}),
  );
  pool.on('error', () => {});
  endSilent(pool, QUERY_TIMEOUT_MS);
  try {
    await pool.query('SELECT 1 FROM meta LIMIT 1');
  } catch (error) {
    await pool.end();
    throw new Error(`the job queue's schema "${QUEUE_SCHEMA}" cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return {
    name: 'postgres',
    openQueue: (name) => new BullMqQueue(name, { connection: pool }, createPostgresBackend) as unknown as BullMqQueue,
    openWorker: (name, processor, settings) =>
      new Worker(name, processor, { connection: pool, ...settings }, createPostgresBackend) as unknown as Worker,
    connected: () => true,
    // With a bound: a connection that is silent is given up, and the next ping has another.
    ping: async () => void (await pool.query({ text: 'SELECT 1', query_timeout: PING_MS } as pg.QueryConfig)),
    close: () => pool.end(),
  };
}

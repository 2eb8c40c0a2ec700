import type { Logger } from '@slipway/telemetry';
import { Queue as BullMqQueue, createPostgresBackend, Worker } from 'bullmq';
import pg from 'pg';
import type { BullBackend } from '../bull-queue.js';
import { QUEUE_SCHEMA } from '../migrate/migrate-queue.js';

/** One connection a handled queue listens all the time; the others are shared by all queues. */
const MAX_CONNECTIONS = 14;

/** BullMQ on Postgres: jobs in the schema "bullmq", wake-ups by LISTEN. @throws when the database does not answer, or nobody has run `migrateQueue`. */
export async function openPostgresBackend(options: { databaseUrl: string; applicationName: string; logger: Logger }): Promise<BullBackend> {
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // A connection that only listens would never learn that the other end is gone.
    keepAliveInitialDelayMillis: 10_000,
    options: `-c search_path=${QUEUE_SCHEMA}`,
  });
  // Idle or in use, and more than once; without a listener that would end the process.
  pool.on('connect', (client) => client.once('error', (error) => options.logger.warn({ err: error }, 'a queue connection was lost')).on('error', () => {}));
  pool.on('error', () => {});
  try {
    await pool.query('SELECT 1 FROM meta LIMIT 1');
  } catch (error) {
    await pool.end();
    throw new Error(`the job queue's schema "${QUEUE_SCHEMA}" cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return {
    name: 'postgres',
    openQueue: (name) => new BullMqQueue(name, { connection: pool }, createPostgresBackend) as unknown as BullMqQueue,
    openWorker: (name, processor, settings) => new Worker(name, processor, { connection: pool, ...settings }, createPostgresBackend) as unknown as Worker,
    connected: () => true,
    ping: async () => void (await pool.query('SELECT 1')),
    close: () => pool.end(),
  };
}

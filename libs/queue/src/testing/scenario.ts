import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type RedisServer, startRedisServer } from '@slipway/testing';
import type { QueueOptions } from '../create.js';
import { migrateQueue } from '../migrate/index.js';

/** One backend for the contract suites: what to connect with, and how to hurt it. */
export interface Scenario {
  readonly options: QueueOptions;
  /** Ends every connection at once; the server is back when this resolves. */
  cutConnections(): Promise<void>;
  close(): Promise<void>;
}

export const silent = createLogger('queue-test', process.env['LOG_LEVEL'] ?? 'silent');

export async function postgresScenario(): Promise<Scenario> {
  const database = await createTestDatabase({
    extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
  });
  const { default: pg } = await import('pg');
  return {
    options: { databaseUrl: database.urls.app, applicationName: 'queue-test', logger: silent },
    cutConnections: async () => {
      const client = new pg.Client({ connectionString: database.ownerUrl });
      await client.connect();
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'slipway_app'`,
      );
      await client.end();
    },
    close: () => database.close(),
  };
}

/** `null` when this machine has no redis-server. */
export async function redisScenario(): Promise<Scenario | null> {
  const server: RedisServer | null = await startRedisServer();
  if (server === null) return null;
  return {
    options: {
      redisUrl: server.url,
      databaseUrl: 'postgresql://nobody:nothing@127.0.0.1:1/none',
      applicationName: 'queue-test',
      logger: silent,
    },
    cutConnections: async () => {
      await server.kill();
      await server.restart();
    },
    close: () => server.stop(),
  };
}

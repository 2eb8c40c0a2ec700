import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PostgresServer, startPostgresServer } from '../embedded/index.js';
import { createPool, inOrg, type PoolClient, type SqlPool } from './index.js';

const pidOf = async (client: PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? -1;

describe('a connection that Postgres ends', () => {
  let directory: string | null = null;
  let server: PostgresServer | null = null;
  let admin: SqlPool;
  let pool: SqlPool;
  const broken: string[] = [];
  beforeAll(async () => {
    if (process.env['TEST_POSTGRES_URL'] === undefined) {
      directory = await mkdtemp('/tmp/slipway-test-');
      server = await startPostgresServer(path.join(directory, 'postgres'));
    }
    const url = process.env['TEST_POSTGRES_URL'] ?? server?.url ?? '';
    admin = createPool({ url, max: 1, applicationName: 'test-admin', onError: () => {} });
    pool = createPool({ url, max: 2, applicationName: 'test', onError: (error) => void broken.push(error.message) });
  });
  afterAll(async () => {
    await pool.end();
    await admin.end();
    await server?.stop();
    if (directory !== null) await rm(directory, { recursive: true, force: true });
  });
  const end = (pid: number): Promise<unknown> => admin.query('SELECT pg_terminate_backend($1, 5000)', [pid]);

  it('in the middle of a transaction, while its work waits for something else, ends that transaction and not the process', async () => {
    broken.length = 0;
    const work = inOrg(pool, 'org_1', async (client) => {
      const ended = new Promise((resolve) => client.once('end', resolve));
      await end(await pidOf(client));
      await ended;
      await client.query('SELECT 1');
    });
    await expect(work).rejects.toThrow();
    expect(broken).toEqual([expect.stringContaining('terminating connection')]);
    await expect(inOrg(pool, 'org_1', async (client) => (await client.query('SELECT 1 AS one')).rows)).resolves.toEqual(
      [{ one: 1 }],
    );
  });

  it('in the middle of a query fails that query and not the process', async () => {
    broken.length = 0;
    const work = inOrg(pool, 'org_1', async (client) => {
      const pid = await pidOf(client);
      await Promise.all([client.query('SELECT pg_sleep(30)'), end(pid)]);
    });
    await expect(work).rejects.toThrow('terminating connection');
    await expect(pool.query('SELECT 1 AS one').then(({ rows }) => rows)).resolves.toEqual([{ one: 1 }]);
  });
});

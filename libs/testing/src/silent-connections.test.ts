import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createPool, inOrg, listen, type PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';
import { SilentProxy } from './silent-proxy.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { until } from './until.js';

/**
 * From the moment that nothing comes any more: a beat and its answer, with room for a machine at work. Milliseconds.
 */
const NOTICED_MS = 6_000 + 3_000;
/** Of the pools here. Milliseconds. */
const TIMEOUT_MS = 1_000;

jest.setTimeout(120_000);

describe('a network that swallows everything between a process and Postgres, and ends no connection', () => {
  let database: TestDatabase;
  let owner: SqlPool;
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await owner.end();
    await database.close();
  });

  describe('a listener', () => {
    let proxy: SilentProxy;
    let session: PostgresSession;
    let pool: SqlPool;
    const heard: string[] = [];
    let opened = 0;
    let lost = 0;
    const say = (payload: string): Promise<unknown> => owner.query("SELECT pg_notify('test_channel', $1)", [payload]);
    beforeAll(async () => {
      proxy = await SilentProxy.open(database.urls.app);
      pool = createPool({ url: proxy.url, max: 1, applicationName: 'listening', onError: () => {} });
      session = listen({
        ...sessionOf(pool, 'ear'),
        channel: 'test_channel',
        heard: (payload) => void heard.push(payload),
        opened: () => {
          opened += 1;
        },
        lost: () => {
          lost += 1;
        },
      });
      await until('it listens', () => opened === 1);
    });
    afterAll(async () => {
      await session.close();
      await pool.end();
      await proxy.close();
    });

    it('notices within the bound, listens again when the network is back, and has its owner catch up', async () => {
      await say('before');
      await until('it hears', () => heard.includes('before'));
      proxy.silence();
      const began = performance.now();
      await say('meanwhile');
      await until('it notices', () => lost === 1, 20_000);
      expect(performance.now() - began).toBeLessThan(NOTICED_MS);
      proxy.heal();
      await until('it listens again', () => opened === 2, 20_000);
      await say('after');
      await until('it hears again', () => heard.includes('after'));
      // Of a connection that was given up nothing is taken for news, however late it comes.
      expect(heard).toEqual(['before', 'after']);
    });

    it('listens again after its backend was killed', async () => {
      const { rowCount } = await owner.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listening-ear'",
      );
      expect(rowCount).toBe(1);
      await until('it listens again', () => opened === 3 && lost === 2, 20_000);
      await say('third');
      await until('it hears', () => heard.includes('third'));
    });
  });

  describe('a pool', () => {
    const open = async (): Promise<{ proxy: SilentProxy; pool: SqlPool; close: () => Promise<void> }> => {
      const proxy = await SilentProxy.open(database.urls.app);
      const pool = createPool({
        url: proxy.url,
        max: 6,
        applicationName: 'pool',
        queryTimeoutMs: TIMEOUT_MS,
        onError: () => {},
      });
      // Six that are idle when the network goes.
      await Promise.all(Array.from({ length: 6 }, () => pool.query('SELECT pg_sleep(0.2)')));
      expect(pool.idleCount).toBe(6);
      await until(
        'they were idle for as long as a query may take',
        () => performance.now() - began > TIMEOUT_MS + 300,
        TIMEOUT_MS + 5_000,
      );
      return {
        proxy,
        pool,
        close: async () => {
          await proxy.close();
          await pool.end();
        },
      };
    };
    let began = 0;
    for (const [how, ask] of [
      ['a query', (pool: SqlPool) => pool.query('SELECT 1')],
      ['a transaction', (pool: SqlPool) => inOrg(pool, 'org_1', (client) => client.query('SELECT 1'))],
    ] as const) {
      it(`makes ${how} wait its timeout once, and not once for each connection that was idle`, async () => {
        began = performance.now();
        const { proxy, pool, close } = await open();
        try {
          proxy.forget();
          const cut = performance.now();
          await expect(ask(pool)).rejects.toThrow('Query read timeout');
          await ask(pool);
          expect(performance.now() - cut).toBeLessThan(2 * TIMEOUT_MS);
        } finally {
          await close();
        }
      });
    }

    it('keeps the idle connections that were used after the question that had no answer', async () => {
      const pool = createPool({
        url: database.urls.app,
        max: 2,
        applicationName: 'busy',
        queryTimeoutMs: TIMEOUT_MS,
        onError: () => {},
      });
      try {
        const pid = async (): Promise<number | undefined> =>
          (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
        const slow = pool.query('SELECT pg_sleep(30)').catch((error: Error) => error.message);
        // The other connection must be used after the question was sent, not merely after it was put into the pool's
        // queue.
        await until('the question is sent', async () => {
          const { rows } = await pool.query(
            `SELECT 1 FROM pg_stat_activity WHERE application_name = 'busy' AND query = 'SELECT pg_sleep(30)'`,
          );
          return rows.length === 1;
        });
        const other = await pid();
        expect(await slow).toBe('Query read timeout');
        expect(await pid()).toBe(other);
      } finally {
        await pool.end();
      }
    });
  });
});

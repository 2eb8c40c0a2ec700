import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { freePort, until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { endLeftovers } from './leftovers.ts';
import { SupervisedPostgres } from './supervised-postgres.ts';

jest.setTimeout(120_000);

describe('SupervisedPostgres', () => {
  let directory: string;
  let port: number;
  let postgres: SupervisedPostgres;
  let pool: SqlPool;
  const said: string[] = [];
  const folder = (): string => path.join(directory, 'postgres');
  const start = async (): Promise<void> => {
    postgres = await SupervisedPostgres.start(folder(), port, (line) => void said.push(line));
  };
  /** Over a connection that is made now: those of the pool may not have seen yet that their server is gone. */
  const rows = async (): Promise<number> => {
    const fresh = createPool({ url: postgres.url, max: 1, applicationName: 'test', onError: () => {} });
    const { rowCount } = await fresh.query('SELECT 1 FROM kept').finally(() => fresh.end());
    return rowCount ?? 0;
  };
  /** A backend that asks for no message and so does not see for a long time that its server is gone. */
  const busyBackend = async (): Promise<number> => {
    await until('the pool has live connections', () => pool.query('SELECT 1').then(() => true));
    const client = await pool.connect();
    const pid = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
    client
      .query('SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b')
      .catch(() => {})
      .finally(() => client.release(true));
    await until(
      'it is at work',
      async () =>
        (await pool.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state = 'active'", [pid])).rowCount === 1,
    );
    return pid;
  };
  const runs = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0] !== 'Z';
    } catch {
      return false;
    }
  };

  beforeAll(async () => {
    directory = await mkdtemp('/tmp/slipway-supervised-');
    port = await freePort();
    await start();
    pool = createPool({ url: postgres.url, max: 3, applicationName: 'test', onError: () => {} });
    await pool.query('CREATE TABLE kept (id int)');
  });
  afterAll(async () => {
    await pool?.end();
    await postgres?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('starts a server again that was killed, with what was committed, and says so', async () => {
    for (let round = 1; round <= 2; round += 1) {
      await pool.query('INSERT INTO kept VALUES ($1)', [round]);
      said.length = 0;
      process.kill(postgres.status().pid, 'SIGKILL');
      await until('it says that it is ready', () => said.length >= 2, 30_000);
      expect(await rows()).toBe(round);
      expect(said).toEqual([
        expect.stringMatching(/^postgres ended \(SIGKILL\), restarting; its log is .+server\.log$/),
        expect.stringMatching(/^postgres ready again after [\d.]+ s$/),
      ]);
      expect(postgres.status()).toMatchObject({ name: 'postgres', restarts: round });
    }
  });

  it('ends a backend that outlives its killed server: until then no other server may open the data', async () => {
    if (process.platform !== 'linux') return skipTest('needs /proc');
    const orphan = await busyBackend();
    process.kill(postgres.status().pid, 'SIGKILL');
    // Backends of the killed one may answer for a moment.
    await until('another server runs', () => postgres.status().restarts === 3, 30_000);
    expect(runs(orphan)).toBe(false);
    expect(await rows()).toBe(2);
  });

  it('leaves nothing that the next start cannot clear away: a killed server, its backend, and a number that another program has by now', async () => {
    if (process.platform !== 'linux') return skipTest('needs /proc');
    const orphan = await busyBackend();
    const { pid } = postgres.status();
    // As if the supervisor had been killed first: nothing restarts it, since its end is heard of after this turn. A
    // server that is asked to stop before may end its backends.
    process.kill(pid, 'SIGKILL');
    await postgres.stop();
    expect(runs(orphan)).toBe(true);
    const file = path.join(folder(), 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)));
    await endLeftovers(directory, () => {});
    await start();
    expect(runs(orphan)).toBe(false);
    expect(await rows()).toBe(2);
  });
});

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi, type TestRuntimeApi } from '../testing/start-runtime-api.js';

/** The advisory lock of the replica that leads. */
const LEAD_LOCK = 7_215_310;

jest.setTimeout(120_000);

describe('pools without a leader', () => {
  let api: TestRuntimeApi;
  let holder: pg.Client;
  beforeAll(async () => {
    api = await startTestRuntimeApi({ uptime: () => 10_000 });
    holder = new pg.Client({ connectionString: api.database.ownerUrl });
    await holder.connect();
  });
  afterAll(async () => {
    await holder?.end();
    await api?.close();
  });
  const note = async (): Promise<string | undefined> => (await api.call('GET', '/ready')).body.notes?.lead;
  const age = async (): Promise<number> =>
    Number(/^pool_lead_age_seconds\{[^}]*\} (\S+)$/m.exec(await api.metrics())?.[1] ?? Number.NaN);
  /** As if the last round had been so long ago. */
  const passTime = (seconds: number): Promise<unknown> =>
    holder.query("UPDATE runtime.lead_run SET completed_at = now() - $1 * interval '1 second'", [seconds]);

  it('are named by /ready and the metric of every replica, which still takes requests; and no more once there is a leader', async () => {
    await until('a round is noted', async () => (await holder.query('SELECT 1 FROM runtime.lead_run')).rowCount === 1);
    await until('nothing is said of a lead that works', async () => (await note()) === undefined);
    expect(await age()).toBeLessThan(30);

    // The adversary: a connection that holds the lead and does nothing, as a replica that hangs.
    await until('the lead is taken away', async () => {
      const { rows } = await holder.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [LEAD_LOCK]);
      if (rows[0]?.got !== true)
        await holder.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%-lead' AND datname = current_database()",
        );
      return rows[0]?.got;
    });
    await until('no round is under way', async () => {
      await passTime(400);
      return (await age()) >= 399;
    });
    expect(await until('it says so', note)).toMatch(/^no replica has kept the pools for 4\d\d s/);
    expect((await api.call('GET', '/ready')).status).toBe(200);
    expect((await api.call('POST', '/start', { session_id: 'warm' })).status).toBe(200);

    await holder.query('SELECT pg_advisory_unlock($1)', [LEAD_LOCK]);
    await until('somebody leads again', async () => (await note()) === undefined && (await age()) < 30, 30_000);
  });
});

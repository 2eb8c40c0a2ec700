import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { Registry } from '@slipway/telemetry/http';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { SWEEPS, type SweepName, SweepRuns } from './sweep-runs.js';

describe('SweepRuns', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let uptime = 10_000;
  const runs = (): SweepRuns => new SweepRuns(pool, () => uptime);
  const complete = async (except?: SweepName): Promise<void> => {
    for (const name of Object.keys(SWEEPS) as SweepName[]) if (name !== except) await runs().completed(name);
  };
  const age = (name: SweepName, seconds: number): Promise<unknown> =>
    pool.query("UPDATE app.sweep_run SET completed_at = now() - $2 * interval '1 second' WHERE name = $1", [
      name,
      seconds,
    ]);
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 2, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await pool.end();
    await database.close();
  });

  it('names a sweep never completed, and gives a process that just began the time that the sweep may take', async () => {
    await complete('usage');
    await expect(runs().expectRecent()).rejects.toThrow('no worker has completed the sweep usage for 10000 s');
    uptime = 59;
    await runs().expectRecent();
    uptime = 10_000;
    await runs().completed('usage');
    await runs().expectRecent();
  });

  for (const [name, bound] of Object.entries(SWEEPS) as Array<[SweepName, number]>) {
    it(`names ${name} alone when no worker has completed it for more than ${bound} s`, async () => {
      await complete();
      await age(name, bound - 2);
      await runs().expectRecent();
      await age(name, bound + 2);
      await expect(runs().expectRecent()).rejects.toThrow(
        new RegExp(`^no worker has completed the sweep ${name} for \\d+ s$`),
      );
    });
  }

  it('gives Prometheus the age of each sweep, the same in every worker', async () => {
    await complete();
    await age('recovery', 300);
    for (const metrics of [new Registry(), new Registry()]) {
      runs().expose(metrics);
      const text = await metrics.metrics();
      expect(Number(/^sweep_age_seconds\{sweep="recovery"\} (\S+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(300);
      expect(Number(/^sweep_age_seconds\{sweep="outbox"\} (\S+)$/m.exec(text)?.[1])).toBeLessThan(30);
    }
  });
});

import { describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import pg from 'pg';
import { createRuntimeApi } from '../app.js';
import { PoolWorld } from '../testing/pool-world.js';
import { startTestRuntimeApi, testPool } from '../testing/start-runtime-api.js';
import { doomSurplus } from './pool.queries.js';
import { CLUSTER_PACE, type PoolSpec } from './pool-context.js';

const PACE = { ...CLUSTER_PACE, surplusAfterMs: 500 };
const elastic = (min: number, max: number): PoolSpec => ({ ...testPool(0), bounds: { min, max } });

describe('the size of a pool', () => {
  it('follows what arrives, between its bounds, and is never exceeded by what is made', async () => {
    const api = await startTestRuntimeApi({ pools: [elastic(2, 12)], pace: PACE, orgSandboxLimit: 1_000 });
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      // Each new slot is compared with the target at the moment when it is written.
      await owner.query(`
        CREATE TABLE runtime.over (population integer, target integer);
        CREATE FUNCTION runtime.watch_population() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          INSERT INTO runtime.over SELECT count(s.slot_id), p.target FROM runtime.pool p JOIN runtime.slot s USING (pool_id)
            WHERE s.state IN ('intent', 'provisioning', 'ready', 'doomed') GROUP BY p.pool_id, p.target HAVING count(*) > p.target;
          RETURN NULL;
        END $$;
        CREATE TRIGGER watch_population AFTER INSERT ON runtime.slot FOR EACH STATEMENT EXECUTE FUNCTION runtime.watch_population();`);
      const target = async (): Promise<number> =>
        (await owner.query<{ target: number }>('SELECT target FROM runtime.pool')).rows[0]?.target ?? -1;
      const ready = async (): Promise<number> =>
        Number((await owner.query(`SELECT 1 FROM runtime.slot WHERE state = 'ready'`)).rowCount);
      await until('the least is there', async () => (await ready()) === 2);
      expect(await target()).toBe(2);
      for (let session = 0; session < 40; session += 1)
        expect((await api.call('POST', '/start', { session_id: `s-${session}` })).status).toBe(200);
      await until('the target follows', async () => (await target()) === 12);
      await until('the pool follows', async () => (await ready()) === 12);
      expect((await owner.query('SELECT * FROM runtime.over')).rows).toEqual([]);
    } finally {
      await owner.end();
      await api.close();
    }
  });

  it('shrinks when it is configured smaller: no other is made, what is given out stays; a pool that is configured no longer goes altogether', async () => {
    const api = await startTestRuntimeApi({ pools: [elastic(8, 8)], pace: PACE });
    const owner = new pg.Client({ connectionString: api.database.ownerUrl });
    await owner.connect();
    try {
      const slots = async (poolId: string, ...states: string[]): Promise<string[]> =>
        (
          await owner.query<{ name: string }>(
            'SELECT pod_name AS name FROM runtime.slot WHERE pool_id = $1 AND state = ANY ($2) ORDER BY created_at',
            [poolId, states],
          )
        ).rows.map((row) => row.name);
      expect((await api.call('POST', '/start', { session_id: 'kept' })).status).toBe(200);
      await until('the pool is full', async () => (await slots('default', 'ready')).length === 8);
      const replacing = async (
        pools: readonly [PoolSpec, ...PoolSpec[]],
        check: () => Promise<void>,
      ): Promise<void> => {
        const next = await createRuntimeApi({ ...api.options, pools, replicaId: 'next' });
        await next.app.listen(0, '127.0.0.1');
        next.pool.start();
        try {
          await check();
        } finally {
          await next.close();
        }
      };
      await api.stopPool();
      // One that was still being made beside the eight may be among those that stay.
      const before = await slots('default', 'intent', 'provisioning', 'ready');
      await replacing([elastic(3, 3)], async () => {
        await until('the surplus is gone', async () => (await slots('default', 'ready')).length === 3, 15_000);
        expect(before).toEqual(expect.arrayContaining(await slots('default', 'ready')));
      });
      await replacing([{ ...elastic(1, 1), poolId: 'other' }], async () => {
        await until(
          'nothing blank of the old pool is left',
          async () => (await slots('default', 'intent', 'provisioning', 'ready', 'doomed')).length === 0,
          15_000,
        );
        await until('the new pool is full', async () => (await slots('other', 'ready')).length === 1);
        expect((await slots('default', 'active')).length).toBe(1);
      });
      expect((await api.call('GET', '/sessions/kept')).body.status).toBe('running');
    } finally {
      await owner.end();
      await api.close();
    }
  });

  it('gives up what no replica has leased first, the oldest first, and what is being made before what is leased', async () => {
    const world = await PoolWorld.open();
    try {
      await world.reset();
      await world.run({ kind: 'fill', crashAt: null });
      const { rows } = await world.owner.query<{ slot_id: string }>(
        'SELECT slot_id FROM runtime.slot ORDER BY created_at, slot_id',
      );
      const [first = '', second = '', third = ''] = rows.map((row) => row.slot_id);
      for (const [age, slotId] of [first, second, third].entries())
        await world.owner.query(
          `UPDATE runtime.slot SET created_at = now() - $2 * interval '1 minute' WHERE slot_id = $1`,
          [slotId, 10 - age],
        );
      await world.owner.query(
        `UPDATE runtime.slot SET holder = 'r', lease_until = now() + interval '1 minute' WHERE slot_id = $1`,
        [first],
      );
      await world.owner.query(
        `INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name) VALUES ('made', 'world', 'first', 'sb-made')`,
      );
      const given: string[] = [];
      while ((await doomSurplus(world.db, 'world', 1)) === 1) {
        const doomed = await world.owner.query<{ slot_id: string }>(
          `SELECT slot_id FROM runtime.slot WHERE state = 'doomed' AND slot_id <> ALL ($1)`,
          [given],
        );
        given.push(...doomed.rows.map((row) => row.slot_id));
      }
      expect(given).toEqual([second, third, 'made', first]);
    } finally {
      await world.close();
    }
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PoolWorld } from '../testing/pool-world.js';
import { KeepWarm } from './keep-warm.js';
import { upsertPool } from './pool.queries.js';

describe('probes of warm sandboxes', () => {
  let world: PoolWorld;
  let warm: KeepWarm;
  const states = async (): Promise<string[]> =>
    (await world.owner.query<{ state: string }>('SELECT state FROM runtime.slot ORDER BY slot_id')).rows.map(
      (row) => row.state,
    );
  const look = async (): Promise<number> => {
    await world.owner.query(`UPDATE runtime.slot SET checked_at = now() - interval '2 minutes'`);
    return warm.pass(AbortSignal.timeout(20_000));
  };
  beforeEach(async () => {
    world = await PoolWorld.open();
    await world.reset();
    warm = new KeepWarm(
      world.context(() => {}),
      'world',
      0,
    );
  });
  afterEach(() => world.close());

  it('takes a sandbox out of the pool when it was silent twice, and not for one silence', async () => {
    await world.run({ kind: 'fill', crashAt: null });
    const [name = ''] = world.farm.sandboxes.keys();
    world.farm.unreachable.add(name);
    expect(await look()).toBe(0);
    world.farm.unreachable.clear();
    expect(await look()).toBe(0);
    world.farm.unreachable.add(name);
    expect(await look()).toBe(0);
    expect(await states()).toEqual(['ready', 'ready', 'ready']);
    expect(await look()).toBe(1);
    expect((await states()).filter((state) => state === 'doomed').length).toBe(1);
  });

  it('removes at once one that is claimed', async () => {
    await world.run({ kind: 'fill', crashAt: null });
    const [sandbox] = world.farm.sandboxes.values();
    if (sandbox !== undefined) sandbox.latch.claimId = 'somebody';
    expect(await look()).toBe(1);
  });

  it('removes nothing when most are silent: then the way to them is broken', async () => {
    await upsertPool(world.db, {
      poolId: 'world',
      image: 'image',
      template: 'first',
      bounds: { min: 12, max: 12 },
      maxAgeSeconds: 3_600,
    });
    await world.run({ kind: 'fill', crashAt: null });
    for (const name of world.farm.sandboxes.keys()) world.farm.unreachable.add(name);
    for (let pass = 0; pass < 3; pass += 1) expect(await look()).toBe(0);
    expect(await states()).toEqual(Array.from({ length: 12 }, () => 'ready'));
    world.farm.unreachable.clear();
    expect(await look()).toBe(0);
  });
});

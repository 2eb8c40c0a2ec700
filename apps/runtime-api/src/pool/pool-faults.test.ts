import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stopwatch, until } from '@slipway/testing';
import pg from 'pg';
import { startTestRuntimeApi, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';
import { CLUSTER_PACE } from './pool-context.js';

const NO_ROOM = {
  message: 'waits for a node',
  problem: { code: 'sandbox.unschedulable', detail: '0/3 nodes are available: 3 Insufficient cpu.' },
} as const;

/** A pool of `target` on a farm, with rows to check. */
async function pool(
  target: number,
  startsAtOnce = 50,
): Promise<{
  api: TestRuntimeApi;
  owner: pg.Client;
  count: (...states: string[]) => Promise<number>;
  close: () => Promise<void>;
}> {
  const pace = { ...CLUSTER_PACE, startsAtOnce, dormantTimeoutMs: 1_000 };
  const api = await startTestRuntimeApi({ pools: [testPool(target)], pace, orgSandboxLimit: 100_000 });
  const owner = new pg.Client({ connectionString: api.database.ownerUrl });
  await owner.connect();
  const count = async (...states: string[]): Promise<number> => {
    const { rows } = await owner.query<{ n: number }>(
      'SELECT count(*)::integer AS n FROM runtime.slot WHERE state = ANY ($1)',
      [states],
    );
    return rows[0]?.n ?? 0;
  };
  return {
    api,
    owner,
    count,
    close: async () => {
      await owner.end();
      await api.close();
    },
  };
}

/** Starts sessions one after another in each of `lanes`, until it is stopped. @returns the answers' statuses. */
function claimInLanes(
  api: TestRuntimeApi,
  lanes: number,
  prefix: string,
  most = Number.POSITIVE_INFINITY,
): { readonly statuses: number[]; stop: () => Promise<void> } {
  const statuses: number[] = [];
  let stopped = false;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (!stopped && next < most) {
      next += 1;
      statuses.push((await api.call('POST', '/start', { session_id: `${prefix}-${next}` })).status);
    }
  };
  const running = Promise.all(Array.from({ length: lanes }, lane));
  return {
    statuses,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

describe('a pool that its place does not take (F12)', () => {
  let world: Awaited<ReturnType<typeof pool>>;
  beforeAll(async () => {
    world = await pool(200, 10);
  });
  afterAll(() => world.close());

  it('holds a bounded number of sandboxes, replaces none, and reports why to all callers; when there is room they all come up', async () => {
    const { api, owner, count } = world;
    api.farm.inTheWay = () => NO_ROOM;
    // What was begun before.
    await until('the problem stands on the pool', async () => {
      const { rows } = await owner.query<{ problem_code: string; problem_detail: string }>(
        'SELECT problem_code, problem_detail FROM runtime.pool',
      );
      return rows[0]?.problem_code === NO_ROOM.problem.code && rows[0].problem_detail === NO_ROOM.problem.detail;
    });
    await until('the held ones are as many as may be', async () => (await count('provisioning')) >= 20);
    const created = api.farm.history.length;
    await wait(3_000);
    expect(api.farm.history.filter((event) => event.kind === 'removed')).toEqual([]);
    expect(await count('doomed', 'gone')).toBe(0);
    expect(api.farm.history.length).toBeLessThanOrEqual(created + 10);
    expect(await count('provisioning')).toBeLessThanOrEqual(20 + 10);
    expect((await api.call('GET', '/ready')).body).toEqual({
      status: 'ready',
      notes: { 'pool default': NO_ROOM.problem.detail },
    });
    expect(await api.metrics()).toMatch(/pool_problem\{[^}]*code="sandbox\.unschedulable"[^}]*\} 1/);
    api.farm.inTheWay = () => null;
    await until('the pool is full', async () => (await count('ready')) === 200, 30_000);
    await until(
      'the problem is over',
      async () => (await owner.query('SELECT 1 FROM runtime.pool WHERE problem_code IS NULL')).rowCount === 1,
    );
    expect(api.farm.history.filter((event) => event.kind === 'removed')).toEqual([]);
  });
});

describe('sandboxes that do not come up or die (F13)', () => {
  it('gives up those that never become ready, and fills the pool with others', async () => {
    const { api, count, close } = await pool(20);
    try {
      let made = 0;
      api.farm.beforeEffect = async (call, { name = '' }) => {
        made += call === 'ensure' ? 1 : 0;
        if (call === 'ensure' && made % 3 === 0) api.farm.unreachable.add(name);
      };
      await until('the pool is full', async () => (await count('ready')) === 20, 60_000);
      expect(api.farm.unreachable.size).toBeGreaterThan(3);
      await until('the others are gone', () =>
        [...api.farm.unreachable].every((name) => !api.farm.sandboxes.has(name)),
      );
    } finally {
      await close();
    }
  });

  it('says nothing of a sandbox that failed once no claim waits and the pool is full', async () => {
    const { api, owner, close } = await pool(0);
    try {
      api.farm.beforeEffect = async (call, { name = '' }) => {
        if (call === 'ensure') api.farm.unreachable.add(name);
      };
      const problems = async (): Promise<number> =>
        (await owner.query('SELECT 1 FROM runtime.pool WHERE problem_code IS NOT NULL')).rowCount ?? 0;
      const waits = api.call('POST', '/start', { session_id: 'waits' }, { prefer: 'wait=5' });
      await until('its sandbox failed', async () => (await problems()) === 1, 30_000);
      expect((await waits).status).toBe(503);
      // The place in the queue is kept for another ten seconds.
      await until('nothing is said', async () => (await problems()) === 0, 40_000);
    } finally {
      await close();
    }
  });

  it('answers at least 999 of 1,000 starts while five of a hundred sandboxes die when they are activated', async () => {
    const { api, count, close } = await pool(100);
    try {
      let seed = 7;
      let died = 0;
      api.farm.diesWhenActivated = () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        const dies = seed / 2 ** 31 < 0.05;
        died += dies ? 1 : 0;
        return dies;
      };
      await until('the pool is full', async () => (await count('ready')) === 100, 20_000);
      const { statuses, stop } = claimInLanes(api, 8, 'mortal', 1_000);
      await until('all are answered', () => statuses.length === 1_000, 120_000);
      await stop();
      expect(died).toBeGreaterThan(20);
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(999);
    } finally {
      await close();
    }
  });
});

describe('nodes that are cordoned while sandboxes are claimed (F11, I13)', () => {
  it('fails no claim while others have slots, and gives out none of theirs two seconds later', async () => {
    const { api, count, close } = await pool(60);
    try {
      await until('the pool is full', async () => (await count('ready')) === 60, 20_000);
      const { statuses, stop } = claimInLanes(api, 2, 'cordon');
      await until('claims go on', () => statuses.length > 20);
      const names = [...api.farm.sandboxes]
        .filter(([, sandbox]) => sandbox.latch.claimId === null)
        .map(([name]) => name);
      const cordoned = new Set(names.filter((_, index) => index % 2 === 0));
      expect(cordoned.size).toBeGreaterThan(15);
      const bound = [...api.farm.sandboxes]
        .filter(([, sandbox]) => sandbox.latch.claimId !== null)
        .map(([name]) => name);
      api.farm.avoid([...cordoned, ...bound], 'node a is cordoned');
      const passed = stopwatch();
      await until('two seconds have passed', () => passed() > 2_000, 60_000);
      const at = api.farm.history.length;
      const before = statuses.length;
      await until('claims go on', () => statuses.length > before + 50, 30_000);
      await stop();
      const late = api.farm.history.slice(at).filter((event) => event.kind === 'activated' && cordoned.has(event.name));
      expect(late).toEqual([]);
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
      // Whoever had one of them keeps it.
      for (const name of bound) expect(api.farm.sandboxes.get(name)?.ended).toBeNull();
      await until('the warm ones are gone', () =>
        [...cordoned].every(
          (name) => (api.farm.sandboxes.get(name)?.latch.claimId ?? null) !== null || !api.farm.sandboxes.has(name),
        ),
      );
      // The mark of an activation is written beside its answer.
      await until('each has its sandbox', async () => (await count('active')) === statuses.length);
    } finally {
      await close();
    }
  });
});

describe('an API server that is away (F8, I16)', () => {
  it('lets warm claims go on; nothing is doomed or lost; when it is back the pool is filled', async () => {
    const { api, owner, count, close } = await pool(40);
    try {
      await until('the pool is full', async () => (await count('ready')) === 40, 20_000);
      expect((await api.call('POST', '/start', { session_id: 'before' })).status).toBe(200);
      await until('the pool is full again', async () => (await count('ready')) === 40, 20_000);
      api.farm.away = true;
      for (let session = 0; session < 20; session += 1)
        expect((await api.call('POST', '/start', { session_id: `away-${session}` })).status).toBe(200);
      await until('it is said', async () => {
        const { rows } = await owner.query<{ problem_code: string | null }>('SELECT problem_code FROM runtime.pool');
        return rows[0]?.problem_code === 'sandbox.cluster-unavailable';
      });
      // Longer than a pass, and than the second strike of a check.
      await wait(6_000);
      expect({
        doomed: await count('doomed', 'releasing', 'gone'),
        active: await count('active'),
        ready: await count('ready'),
      }).toEqual({
        doomed: 0,
        active: 21,
        ready: 20,
      });
      const { rows } = await owner.query('SELECT 1 FROM runtime.claim WHERE ended_at IS NOT NULL');
      expect(rows).toEqual([]);
      api.farm.away = false;
      await until('the pool is full', async () => (await count('ready')) === 40, 30_000);
      await until(
        'the problem is over',
        async () => (await owner.query('SELECT 1 FROM runtime.pool WHERE problem_code IS NULL')).rowCount === 1,
      );
    } finally {
      await close();
    }
  });
});

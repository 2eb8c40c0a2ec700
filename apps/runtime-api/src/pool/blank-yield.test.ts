import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { startTestRuntimeApi, type TestRuntimeApi, testPool } from '../testing/start-runtime-api.js';

const NO_ROOM = {
  message: 'waits for a node',
  problem: { code: 'sandbox.unschedulable', detail: '0/1 nodes are available: 1 Insufficient memory.' },
} as const;

describe('a cluster that is full', () => {
  let api: TestRuntimeApi;
  /** Sandboxes that the one node takes. */
  let room = 3;
  beforeAll(async () => {
    api = await startTestRuntimeApi({
      pools: [
        { ...testPool(3), poolId: 'plain-1', image: 'plain' },
        { ...testPool(0), poolId: 'big-1', image: 'big' },
      ],
      orgSandboxLimit: 20,
    });
    // In the order in which they came, as a scheduler without priorities has it.
    api.farm.inTheWay = (name) => ([...api.farm.sandboxes.keys()].indexOf(name) < room ? null : NO_ROOM);
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    room = 3;
    await until('three are blank', async () => (await ready()) === 3, 60_000);
  });
  const ready = async (): Promise<number> =>
    Number(/^\w*pool_ready_slots\{[^}]*pool="plain-1"[^}]*\} (\d+)$/m.exec(await api.metrics())?.[1] ?? -1);

  it('removes a blank sandbox of one pool for a claim that waits for another, and none that is in use', async () => {
    const used = await api.call('POST', '/start', { session_id: 'in-use', image: 'plain' });
    expect(used.status).toBe(200);
    await until('it has the room of the pool', () => api.farm.sandboxes.size >= 3);
    const big = await until(
      'the other one is served',
      async () => {
        const answer = await api.call('POST', '/start', { session_id: 'waits', image: 'big' }, { prefer: 'wait=5' });
        return answer.status === 200 && answer;
      },
      60_000,
    );
    expect(big.body.status).toBe('running');
    expect((await api.call('GET', '/sessions/in-use')).body.status).toBe('running');
    for (const session of [used, big]) await api.call('POST', '/stop', { runtime_id: session.body.runtime_id });
  });
});

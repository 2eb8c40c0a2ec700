import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { failuresOf, type Outcome, timesOf } from './faults-load.ts';
import type { Asked, Fault } from './faults-proxy.ts';
import { FaultWorld } from './faults-world.ts';

const POOL_SIZE = 48;
/** How long the API server is away. Seconds. */
const OUTAGE_SECONDS = process.env['SLIPWAY_LONG'] === '1' ? 60 : 20;
/** From the API server's return until the pool is full again. Milliseconds. */
const REFILLED_MS = 60_000;
/** Nodes of kwok. */
const NODES = 4;
const SILENCE_SECONDS = process.env['SLIPWAY_LONG'] === '1' ? 60 : 10;
/** The watch lists again at most this often. Milliseconds; less what two clocks of one machine differ. */
const LIST_PACE_MS = 4_900;
const missing = await missingForBuiltCluster();

describeUnless(missing)('what goes on when the API server does not', () => {
  let world: FaultWorld;
  beforeAll(async () => {
    world = await FaultWorld.open({
      kwokNodes: NODES,
      realNode: false,
      proxied: true,
      templates: (place) => [place.fakeTemplate('fake', POOL_SIZE)],
    });
  });
  afterAll(() => world?.close());
  afterEach(async () => {
    world.proxy.heal();
    const { apiServer, etcd, scheduler } = world.place.cluster;
    // Also after a test that failed in the middle.
    await etcd.resume();
    await apiServer.start();
    await apiServer.resume();
    await scheduler.start();
    await world.load.stopAll();
    const seconds = await world.settles();
    const gap = world.proxy.shortestListGap(0);
    console.log(
      `nothing left over after ${seconds.toFixed(1)} s; shortest time between two lists ${(gap / 1_000).toFixed(1)} s`,
    );
    expect(gap).toBeGreaterThanOrEqual(LIST_PACE_MS);
  });

  /** Warm sandboxes that were taken out of the pool although unclaimed. */
  const doomed = async (): Promise<string[]> =>
    (
      await world.place.owner.query<{ reason: string }>(
        `SELECT reason FROM runtime.slot WHERE claim_id IS NULL AND state IN ('doomed', 'gone')`,
      )
    ).rows.map(({ reason }) => reason);
  /** Ends once every node has renewed its lease after this was called. */
  const nodesReport = (since = Date.now()): Promise<unknown> =>
    until(
      'every node has renewed its lease',
      async () => {
        const leases = await world.place.cluster.kubectl(['-n', 'kube-node-lease', 'get', 'leases', '-o', 'json']);
        const { items } = JSON.parse(leases) as { items: Array<{ spec: { renewTime: string } }> };
        return items.length >= NODES && items.every(({ spec }) => Date.parse(spec.renewTime) > since);
      },
      60_000,
    );
  const allRun = async (outcomes: readonly Outcome[]): Promise<void> => {
    const statuses = await Promise.all(outcomes.map(async ({ session }) => (await world.load.look(session)).status));
    expect(statuses.filter((status) => status !== 'running')).toEqual([]);
  };

  it('gives out warm sandboxes while the API server is away, loses and dooms none, says that it is away, and refills after', async () => {
    const { apiServer, scheduler } = world.place.cluster;
    const [before, lost] = [await world.load.run({ rate: 5, seconds: 1 }), (await doomed()).length];
    await until('the pool is full', async () => (await world.count('ready', 'leased')) >= POOL_SIZE, 60_000);
    // Where there is more than one scheduler they end with their lease and are started again; the one of a test would
    // wait ever longer between its tries.
    await Promise.all([apiServer.stop(), scheduler.stop()]);
    const during = await world.load.run({ rate: (0.8 * POOL_SIZE) / OUTAGE_SECONDS, seconds: OUTAGE_SECONDS });
    const ready = (await (await fetch(`${world.replica.url}/ready`)).json()) as {
      status: string;
      notes?: Record<string, string>;
    };
    expect(failuresOf(during)).toEqual([]);
    expect(ready.status).toBe('ready');
    expect(ready.notes?.['sandboxes']).toEqual(expect.stringContaining('API server'));
    await allRun([...before, ...during]);
    await world.ledger.holds().catch((error: unknown) => expect(String(error)).toMatch(/ECONNREFUSED|socket/));
    await apiServer.start();
    const refilled = performance.now();
    await scheduler.start();
    await until('the pool is full again', async () => (await world.count('ready', 'leased')) >= POOL_SIZE, REFILLED_MS);
    const { p50, p99, n } = timesOf(during);
    console.log(
      `away for ${OUTAGE_SECONDS} s: ${n} claims, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; full again ${((performance.now() - refilled) / 1_000).toFixed(1)} s after its return`,
    );
    await allRun([...before, ...during]);
    expect((await doomed()).slice(lost)).toEqual([]);
  });

  it('gives out warm sandboxes while the API server keeps its connections and answers nothing', async () => {
    const { apiServer } = world.place.cluster;
    // After the outage before, nodes renew their leases ever later: one more silence would make them unreachable.
    await nodesReport();
    const lost = (await doomed()).length;
    await apiServer.pause();
    const during = await world.load
      .run({ rate: (0.8 * POOL_SIZE) / SILENCE_SECONDS, seconds: SILENCE_SECONDS })
      .finally(() => apiServer.resume());
    expect(failuresOf(during)).toEqual([]);
    await world.settles();
    await allRun(during);
    expect((await doomed()).slice(lost)).toEqual([]);
  });

  /** The same share of requests every time. */
  const everyNth = (
    faults: readonly (readonly [every: number, fault: Fault, of?: (request: Asked) => boolean])[],
  ): ((request: Asked) => Fault | null) => {
    const counts = faults.map(() => 0);
    return (request) => {
      for (const [index, [every, fault, of]] of faults.entries()) {
        if (of?.(request) === false) continue;
        counts[index] = (counts[index] ?? 0) + 1;
        if ((counts[index] ?? 0) % every === 0) return fault;
      }
      return null;
    };
  };

  it('serves all claims through storms of 409, 429, 5xx and broken connections, and through 2 s of latency', async () => {
    const isWrite = ({ method }: Asked): boolean => method !== 'GET';
    world.proxy.fault = everyNth([
      [3, { status: 409, reason: 'Conflict' }, isWrite],
      [7, { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 }],
      [5, { status: 500, reason: 'InternalError' }],
      [9, { status: 503 }],
      [11, 'cut'],
    ]);
    expect(failuresOf(await world.load.run({ rate: 6, seconds: 5, holdMs: 500 }))).toEqual([]);
    world.proxy.heal();
    world.proxy.latencyMs = 2_000;
    // These end when the latency is over: the end of each is some requests one after another.
    expect(failuresOf(await world.load.run({ rate: 4, seconds: 5 }))).toEqual([]);
  });

  it('follows a cluster whose watches are cut every 3 s, and sometimes answered as too old', async () => {
    const began = performance.now();
    let ended = false;
    const cutting = (async () => {
      for (let cut = 1; !ended; cut += 1) {
        await wait(3_000);
        world.proxy.cutWatches();
        world.proxy.fault =
          cut % 3 === 0 ? everyNth([[1, { status: 410, reason: 'Expired' }, ({ isWatch }) => isWatch]]) : () => null;
      }
    })();
    try {
      expect(failuresOf(await world.load.run({ rate: 5, seconds: 13, holdMs: 500 }))).toEqual([]);
    } finally {
      ended = true;
      await cutting;
    }
    const lists = world.proxy.asked.filter(({ isList, at }) => isList && at >= began).length;
    // One of each kind for each requested time.
    expect(lists).toBeLessThanOrEqual(4);
  });

  it('makes and loses no slot when events come twice, late and in another order', async () => {
    let count = 0;
    let kept: string | null = null;
    const seen: string[] = [];
    world.proxy.line = (line, send) => {
      count += 1;
      seen.push(line);
      if (count % 5 === 0) {
        // The next one overtakes it.
        if (kept !== null) send(kept);
        kept = line;
        return;
      }
      if (count % 4 === 0) setTimeout(() => send(line), 400);
      else send(line);
      if (kept !== null) send(kept);
      kept = null;
      if (count % 3 === 0) send(line);
      // One from long ago, again.
      if (count % 11 === 0) send(seen[count - 10] as string);
    };
    const outcomes = await world.load.run({ rate: 6, seconds: 7, holdMs: 700 });
    expect(failuresOf(outcomes)).toEqual([]);
    if (kept !== null) world.proxy.heal();
    expect(count).toBeGreaterThan(100);
    await until(
      'nobody waits for an event',
      async () => (await world.count('doomed', 'releasing', 'provisioning')) === 0,
      60_000,
    );
  });

  it('claims as fast as before while etcd is slow', async () => {
    const { etcd } = world.place.cluster;
    const claims = { rate: 4, seconds: 5 };
    const before = await world.load.run(claims);
    let slow = true;
    const stuttering = (async () => {
      while (slow) {
        await etcd.pause();
        await wait(200);
        await etcd.resume();
        await wait(100);
      }
    })();
    const during = await world.load.run(claims).finally(async () => {
      slow = false;
      await stuttering;
    });
    expect(failuresOf([...before, ...during])).toEqual([]);
    const [fast, late] = [timesOf(before), timesOf(during)];
    console.log(
      `before: p50 ${fast.p50.toFixed(1)} ms, p99 ${fast.p99.toFixed(1)} ms; etcd stopped for 200 ms of every 300 ms: p50 ${late.p50.toFixed(1)} ms, p99 ${late.p99.toFixed(1)} ms`,
    );
    // A claim that waited for one write to etcd would take 200 ms; on a busy machine the remainder is noise.
    expect(late.p50).toBeLessThan(Math.max(3 * fast.p50, 100));
  });
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { missingForBuiltCluster } from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';
import { SANDBOXES } from './contract-pod.ts';
import { failuresOf } from './faults-load.ts';
import { FaultWorld } from './faults-world.ts';

const POOL_SIZE = 48;
const BLOCKED = 4;
/** From the moment that the API server knows, until no slot of the node may be given to anybody. Milliseconds. */
const AVOIDED_MS = 2_000;
/** A pod has a minute to say a word, and is then removed. Milliseconds. */
const REPLACED_MS = 90_000;
const missing = await missingForBuiltCluster();

describeUnless(missing)('what goes on when nodes and pods fail', () => {
  let world: FaultWorld;
  let kubectl: (...args: string[]) => Promise<string>;
  beforeAll(async () => {
    world = await FaultWorld.open({
      kwokNodes: 4,
      realNode: false,
      proxied: true,
      templates: (place) => [
        place.fakeTemplate('fake', POOL_SIZE),
        place.fakeTemplate('blocked', BLOCKED, BLOCKED, { nodeSelector: { type: 'kwok', nowhere: 'yet' } }),
      ],
    });
    kubectl = (...args) => world.place.cluster.kubectl(args);
  });
  afterAll(() => world?.close());

  const blockedPods = async (): Promise<{ uid: string; phase: string }[]> => {
    const list = JSON.parse(
      await kubectl('-n', SANDBOXES, 'get', 'pods', '-l', 'slipway.dev/template=blocked', '-o', 'json'),
    ) as {
      items: { metadata: { uid: string }; status: { phase: string } }[];
    };
    return list.items.map(({ metadata, status }) => ({ uid: metadata.uid, phase: status.phase }));
  };

  it('answers all claims although pods never say a word or die when they are activated', async () => {
    await world.place.setFaults({ silentEvery: 20, dieEvery: 10 });
    // The pods that were there before are well; those that replace them are not all.
    const outcomes = await world.load.run({ rate: 8, seconds: 15, holdMs: 300 });
    expect(failuresOf(outcomes)).toEqual([]);
    const receipts = await world.place.receipts();
    const died = receipts.filter(({ fault, gone }) => fault === 'dies' && gone).length;
    const silent = receipts.filter(({ fault }) => fault === 'silent').length;
    console.log(`${outcomes.length} claims; ${died} pods died of their activation, ${silent} never answered`);
    expect(Math.min(died, silent)).toBeGreaterThan(0);
    await world.place.setFaults({ silentEvery: 0, dieEvery: 0 });
    await world.ledger.holds();
  });

  it('holds what no node takes, never more than its target, and delays no other claim; it comes up when there is room', async () => {
    const held = await until('they wait', async () => {
      const pods = await blockedPods();
      return pods.length === BLOCKED && pods;
    });
    const began = performance.now();
    const seen = new Set(held.map(({ uid }) => uid));
    const claims = world.load.run({ rate: 4, seconds: 6 });
    let over = 0;
    await until(
      'the claims are answered',
      async () => {
        for (const { uid } of await blockedPods()) seen.add(uid);
        const { rows } = await world.place.owner.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM runtime.slot WHERE pool_id = 'blocked-x1' AND state <> 'gone'`,
        );
        over += (rows[0]?.n ?? 0) > BLOCKED ? 1 : 0;
        return performance.now() - began > 6_500;
      },
      30_000,
    );
    expect(failuresOf(await claims)).toEqual([]);
    expect(over).toBe(0);
    expect([...seen].sort()).toEqual(held.map(({ uid }) => uid).sort());
    const { notes = {} } = (await (await fetch(`${world.replica.url}/ready`)).json()) as {
      notes?: Record<string, string>;
    };
    expect(notes['pool blocked-x1']).toEqual(
      expect.stringContaining('No node takes the sandbox: 0/4 nodes are available'),
    );
    await kubectl('label', 'node', 'kwok-3', 'nowhere=yet');
    await until('they come up', async () => (await blockedPods()).every(({ phase }) => phase === 'Running'), 30_000);
    expect((await blockedPods()).map(({ uid }) => uid).sort()).toEqual(held.map(({ uid }) => uid).sort());
    world.ledger.blocked.clear();
    await world.ledger.holds();
    await world.load.stopAll();
  });

  it('claims no sandbox of a node that is cordoned, drained or not ready, and serves all from others', async () => {
    const since = new Map<string, number>();
    const from = async (node: string, act: () => Promise<unknown>): Promise<void> => {
      await act();
      since.set(node, Date.now());
    };
    const claims = world.load.run({ rate: 8, seconds: 12 });
    await until(
      'claims are under way',
      () => world.load.sessions.filter(({ answer, ended }) => answer !== null && !ended).length > 10,
    );
    await from('kwok-0', () => kubectl('cordon', 'kwok-0'));
    await from('kwok-2', () => becomesUnready('kwok-2'));
    // Cordons first, then evicts one after the other.
    const cordoned = from('kwok-1', () => kubectl('cordon', 'kwok-1'));
    await cordoned;
    await kubectl('drain', 'kwok-1', '--force', '--delete-emptydir-data', '--ignore-daemonsets', '--timeout=30s');
    expect(failuresOf(await claims)).toEqual([]);
    const nodeOf = new Map((await world.place.receipts()).map(({ uid, node }) => [uid, node]));
    const { rows } = await world.place.owner.query<{ pod_uid: string; at: Date }>(
      'SELECT s.pod_uid, c.created_at AS at FROM runtime.claim c JOIN runtime.slot s USING (slot_id)',
    );
    const late = rows.flatMap(({ pod_uid, at }) => {
      const after = at.getTime() - (since.get(nodeOf.get(pod_uid) ?? '') ?? Number.POSITIVE_INFINITY);
      return after > 0 ? [{ node: nodeOf.get(pod_uid), ms: after }] : [];
    });
    console.log(
      `the last sandbox of such a node was given out ${Math.round(Math.max(0, ...late.map(({ ms }) => ms)))} ms after the API server knew of it`,
    );
    expect(late.filter(({ ms }) => ms > AVOIDED_MS)).toEqual([]);
    await Promise.all([
      kubectl('uncordon', 'kwok-0', 'kwok-1'),
      kubectl('annotate', 'node', 'kwok-2', 'kwok.x-k8s.io/node=fake'),
    ]);
    await world.settles();
    await world.load.stopAll();
  });

  it('has replaced every pod that was never heard of, a minute later', async () => {
    const silent = async () => (await world.place.receipts()).filter(({ fault, gone }) => fault === 'silent' && !gone);
    await until('none of them is left', async () => (await silent()).length === 0, REPLACED_MS);
    const seconds = await world.settles();
    console.log(`nothing left over after ${seconds.toFixed(1)} s`);
  });

  /** The node is silent, and the API server gets its controller's later status at once. */
  /**
   * By its own word: silence alone is excused for a while after a watch was cut (`ClusterPods`), which a busy machine
   * does.
   */
  async function becomesUnready(node: string): Promise<void> {
    await kubectl('annotate', 'node', node, 'kwok.x-k8s.io/node-');
    const condition = {
      type: 'Ready',
      status: 'False',
      reason: 'KubeletNotReady',
      message: 'container runtime is down',
    };
    await kubectl(
      'patch',
      'node',
      node,
      '--subresource=status',
      '--type=strategic',
      '-p',
      JSON.stringify({ status: { conditions: [condition] } }),
    );
  }
});

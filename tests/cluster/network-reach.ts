import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { newSlot, type PlatformCluster } from './platform-cluster.ts';
import { FIXED, type Line, type Named, type Placed, ReachPods, type Target, targetsOf } from './reach-pods.ts';

/** No server listens here on a node. */
const HOST_PORT = 28_765;
const PORTS = [5432, 6379, 8000, 10_250] as const;
const both = (name: string, address: string, port: number): Named[] => [
  [`${name}, TCP`, ['TCP', address, port]],
  [`${name}, UDP`, ['UDP', address, port]],
];

const isListening = (lines: readonly Line[]): boolean => lines.some(({ listening }) => listening !== undefined);
/** Whether the last word on what it holds to is this one. */
const holds =
  (state: boolean) =>
  (lines: readonly Line[]): boolean =>
    lines.findLast(({ held }) => held !== undefined)?.held === state;

/** Where it is tried. */
export interface ReachWorld {
  readonly platform: PlatformCluster;
  /** The sandbox image by its digest. */
  readonly image: string;
  /** `Never` where the image was imported. */
  readonly pull: 'Never' | 'IfNotPresent';
}

/**
 * What network-policy.test.ts reads, tried: that the nodes' network plugin does what our policies say. The plugin of
 * the cluster that we build enforces none, so there only that question is answered, and the others report why they were
 * skipped.
 *
 * @param open called once, before the first test; its caller closes the cluster.
 */
export const describeReach = (open: () => ReachWorld): void =>
  void describe('the network', () => {
    let platform: PlatformCluster;
    let pods: ReachPods;
    const namespace = `slipway-reach-${newSlot()}`;
    /** Why nothing can be tried; `null` when it can. */
    let unfit: string | null = 'Whether this cluster enforces a NetworkPolicy is not known: the test that asks failed.';
    let listener: Placed;
    let targets: readonly Named[];

    beforeAll(async () => {
      const world = open();
      platform = world.platform;
      const { api, cluster } = platform;
      pods = new ReachPods(api, world.image, cluster.realNode, world.pull);
      expect(
        (
          await api.ask('/api/v1/namespaces', {
            method: 'POST',
            body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
          })
        ).status,
      ).toBe(201);
      await until(
        'the namespace has its service account',
        async () => (await api.ask(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200,
      );
    });
    afterAll(async () => {
      await pods?.close();
      await platform?.api.ask(`/api/v1/namespaces/${namespace}`, { method: 'DELETE' });
    });

    it('a pod without policies reaches the others, and a policy that denies all is put into force or is known not to be', async () => {
      const { api, cluster } = platform;
      const onAll = (ports: readonly number[]) =>
        ports.flatMap((port) => [['TCP', port] as const, ['UDP', port] as const]);
      const onHost = pods.plain(namespace, { listen: onAll([HOST_PORT]) }, {}, true);
      listener = await pods.plain(namespace, { listen: onAll(PORTS) });
      const { ip: nodeAddress } = await onHost;
      for (const pod of [listener, await onHost]) await pods.says('it listens', pod, isListening);
      targets = [
        ...FIXED,
        ...(await targetsOf(api)),
        ...both('a port of the node', nodeAddress, HOST_PORT),
        ...PORTS.flatMap((port) => both(`a pod’s ${port}`, listener.ip, port)),
      ];
      const caller = await pods.plain(namespace, {
        hold: ['TCP', listener.ip, 8000],
        attempt: targets.map(([, target]) => target),
      });
      await pods.says('it reaches the other one', caller, holds(true));
      const reachedFreely = (await pods.lines(caller)).flatMap(({ reached = [] }) => reached);
      const freely = reachedFreely.map((index) => targets[index]?.[0]);
      console.log(`without a policy it reaches: ${freely.join('; ')}`);
      expect(freely).toEqual(
        expect.arrayContaining(PORTS.flatMap((port) => both(`a pod’s ${port}`, '', port).map(([name]) => name))),
      );
      expect(freely).toEqual(
        expect.arrayContaining([expect.stringMatching(/^the API server at|^the service default\/kubernetes/)]),
      );

      const policies = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
      const denyAll = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'deny-all' },
        spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
      };
      expect((await api.ask(policies, { method: 'POST', body: denyAll })).status).toBe(201);
      // The plugin of a cluster of ours is known; a plugin that is not has time for its first policy.
      const enforceMs = cluster.kind === 'built' ? 1_500 : 20_000;
      const enforced = await pods.says('nothing is reached', caller, holds(false), enforceMs).catch(() => false);
      expect((await api.ask(`${policies}/deny-all`, { method: 'DELETE' })).status).toBe(200);
      if (enforced) await pods.says('without the policy it is reached again', caller, holds(true), 30_000);
      unfit = enforced
        ? null
        : `The network plugin of this cluster (${cluster.kind}) enforces no NetworkPolicy: ${enforceMs} ms after a policy that denies all, a pod still reached another one.`;
    });

    it('a sandbox reaches its model and nothing of the cluster, whatever the port, over TCP and UDP', async () => {
      if (unfit !== null) return skipTest(unfit);
      // In the platform's own namespace and under the name that the policies let sandboxes through to: what is not
      // reached below is so by the policies.
      const gateway = await pods.plain(
        'slipway',
        {
          listen: [
            ['TCP', 3003],
            ['UDP', 3003],
            ['TCP', 9090],
          ],
        },
        { 'app.kubernetes.io/component': 'llm-gateway' },
      );
      const neighbour = await pods.sandbox({
        listen: [
          ['TCP', 8000],
          ['UDP', 8000],
          ['TCP', 8001],
          ['UDP', 8001],
        ],
      });
      for (const pod of [gateway, neighbour]) await pods.says('it listens', pod, isListening);
      const allowed: Named = ['the model', ['TCP', gateway.ip, 3003]];
      const refused: readonly Named[] = [
        ...targets,
        ['llm-gateway over UDP', ['UDP', gateway.ip, 3003]],
        ['the metrics of llm-gateway', ['TCP', gateway.ip, 9464]],
        ...both('another sandbox', neighbour.ip, 8000),
        ...both('the tools of another sandbox', neighbour.ip, 8001),
      ];
      const attempt = [allowed, ...refused].map(([, target]): Target => target);
      const prober = await pods.sandbox({ hold: ['TCP', listener.ip, 8000], until_held: 20, attempt });
      const reached = await pods.says(
        'it has tried them all',
        prober,
        (lines) => lines.find((line) => line.reached !== undefined)?.reached,
      );
      expect(reached.map((index) => [allowed, ...refused][index]?.[0])).toEqual(['the model']);
    });
  });

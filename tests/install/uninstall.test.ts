import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { missingForBuiltCluster, openBuiltCluster, type TestCluster } from '@slipway/testing/cluster';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { HelmClient } from '../../deploy/cluster/helm-client.ts';
import { CHART, MINIMUM } from '../helm/chart.ts';
import { runDocumented } from '../operate/documented.ts';
import { ofRelease } from './release-objects.ts';

const missing = (await missingForBuiltCluster()) ?? missingForHelm();

/** Fake of a sandbox at work: made before the admission policy, since only runtime-api can make one afterwards. */
const AT_WORK = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'sb-1',
    namespace: 'slipway-sandboxes',
    labels: { 'slipway.dev/egress': 'open', 'slipway.dev/claim': 'c' },
  },
  spec: { containers: [{ name: 'agent-server', image: 'none' }] },
};

/** Without a node and without hooks: objects alone. install.test.ts does the same with everything at work. */
jest.setTimeout(300_000);

describeUnless(missing)('an uninstall of the chart', () => {
  let cluster: TestCluster;
  let helm: HelmClient;
  const apply = (object: object): Promise<string> => cluster.kubectl(['apply', '-f', '-'], JSON.stringify(object));
  const secret = (name: string, key: string): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'slipway' },
    stringData: { [key]: 'x' },
  });
  const install = async (): Promise<string> => {
    // Secrets of the chart's own are a hook.
    const values = {
      ...MINIMUM,
      sandboxes: { ...(MINIMUM['sandboxes'] as object), createNamespace: false },
      secrets: { existingSecret: 'own' },
    };
    const own = { postgresql: { ...(MINIMUM['postgresql'] as object), existingSecret: 'urls' } };
    const flags = Object.entries({ ...values, ...own }).flatMap(([key, value]) => [
      '--set-json',
      `${key}=${JSON.stringify(value)}`,
    ]);
    return helm.run(['install', 'slipway', CHART, '--namespace', 'slipway', '--no-hooks', ...flags]);
  };
  const confining = async (): Promise<string[]> =>
    (await ofRelease(cluster, 'slipway')).filter((one) =>
      /^(LimitRange|NetworkPolicy slipway-sandboxes|Validating)/.test(one),
    );

  beforeAll(async () => {
    cluster = await openBuiltCluster({ realNode: false });
    helm = await HelmClient.open(cluster);
    for (const namespace of ['slipway', 'slipway-sandboxes']) await cluster.kubectl(['create', 'namespace', namespace]);
    const keys = [
      'session-secret',
      'encryption-key',
      'ingest-secret',
      'runtime-api-key',
      'llm-gateway-master-key',
      'activation-private-key',
      'sandbox-access-secret',
      'egress-secret',
      'egress-control-secret',
    ];
    const urls = ['owner-url', 'app-url', 'runtime-url', 'gateway-url', 'sandbox-url'];
    const many = (name: string, names: readonly string[]): object => ({
      ...(secret(name, 'x') as { apiVersion: string; kind: string; metadata: object }),
      stringData: Object.fromEntries(names.map((key) => [key, 'x'.repeat(40)])),
    });
    for (const object of [
      secret('postgres-owner', 'password'),
      secret('oidc', 'client-secret'),
      many('own', keys),
      many('urls', urls),
      AT_WORK,
    ])
      await apply(object);
    await install();
  });
  afterAll(() => cluster?.close());

  it('leaves a sandbox at work, and every rule that confines it: they still refuse, the administrator too', async () => {
    const fence = await confining();
    expect(fence.length).toBeGreaterThan(12);
    await helm.run(['uninstall', 'slipway', '--namespace', 'slipway', '--no-hooks']);
    expect(await ofRelease(cluster, 'slipway')).toEqual(fence);
    expect(await cluster.kubectl(['-n', 'slipway-sandboxes', 'get', 'pods', '-o', 'name'])).toBe('pod/sb-1\n');
    const intruder = ['-n', 'slipway-sandboxes', 'create', 'deployment', 'intruder', '--image=none'];
    await expect(cluster.kubectl(intruder)).rejects.toThrow('Only runtime-api makes pods in this namespace');
    const looser = ['-n', 'slipway-sandboxes', 'label', 'pod/sb-1', 'slipway.dev/egress=none', '--overwrite'];
    await expect(cluster.kubectl(looser)).rejects.toThrow('Only runtime-api changes sandboxes');
  });

  it('is followed by an install of the same release, which takes over what stayed', async () => {
    const before = await confining();
    await install();
    expect(await confining()).toEqual(before);
    expect(await helm.run(['status', 'slipway', '--namespace', 'slipway'])).toContain('STATUS: deployed');
  });

  it('and the commands of docs/operate/uninstall.md leave nothing of the release in the cluster', async () => {
    await helm.run(['uninstall', 'slipway', '--namespace', 'slipway', '--no-hooks']);
    await runDocumented('uninstall.md', 'rest', helm.environment);
    expect(await ofRelease(cluster, 'slipway')).toEqual([]);
    expect(await cluster.kubectl(['get', 'namespace', 'slipway-sandboxes', '--ignore-not-found', '-o', 'name'])).toBe(
      '',
    );
  });
});

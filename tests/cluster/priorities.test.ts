import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import { missingForBuiltCluster, openBuiltCluster, type TestCluster } from '@slipway/testing/cluster';
import { missingForHelm } from '@slipway/testing/helm';
import { describeUnless } from '@slipway/testing/jest';
import { type Manifest, MINIMUM, ofKind, render } from '../helm/chart.ts';

const NAMESPACE = 'slipway-sandboxes';
/** Pods that fill the node of a case, each a fourth of it. */
const SLOTS = 4;
/** The scheduler answers within a second; this is for a busy machine. Milliseconds. */
const PATIENCE_MS = 60_000;

const missing = (await missingForBuiltCluster()) ?? missingForHelm();

/**
 * On fake nodes, by the scheduler and the disruption controller of Kubernetes, with the classes and the budget of the
 * chart.
 */
jest.setTimeout(400_000);

describeUnless(missing)('a pod of the platform that finds no room', () => {
  let cluster: TestCluster;
  let budget: Manifest;
  const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(args);
  const apply = (objects: readonly Manifest[]): Promise<string> =>
    cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

  beforeAll(async () => {
    cluster = await openBuiltCluster({ realNode: false });
    const { objects, code, said } = await render([MINIMUM, { sandboxes: { podDisruptionBudget: { enabled: true } } }]);
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    budget = ofKind(objects, 'PodDisruptionBudget').find(({ metadata }) => metadata.namespace === NAMESPACE);
    await kubectl('create', 'namespace', NAMESPACE);
    await apply(ofKind(objects, 'PriorityClass'));
  });
  afterAll(() => cluster?.close());

  const namesOn = async (node: string): Promise<string[]> =>
    (
      await kubectl(
        '-n',
        NAMESPACE,
        'get',
        'pods',
        '--field-selector',
        `spec.nodeName=${node},status.phase=Running`,
        '-o',
        'jsonpath={.items[*].metadata.name}',
      )
    )
      .split(' ')
      .filter((name) => name !== '')
      .sort();
  const cpuOf = async (node: string): Promise<number> =>
    Number(await kubectl('get', 'node', node, '-o', 'jsonpath={.status.allocatable.cpu}')) / SLOTS;
  const pod = (node: string, name: string, cpu: number, more: Manifest = {}): Manifest => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${node}-${name}`, namespace: NAMESPACE, labels: more.labels ?? {} },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      tolerations: [{ key: 'kwok.x-k8s.io/node', operator: 'Exists' }],
      ...(more.priorityClassName === undefined ? {} : { priorityClassName: more.priorityClassName }),
      containers: [{ name: 'one', image: 'none', resources: { requests: { cpu: `${cpu * 1000 * 0.9}m` } } }],
    },
  });
  /**
   * A node of its own, full: two blank sandboxes, and two in use that are younger, so that age alone would choose
   * these.
   */
  const fullNode = async (priorityClassName?: string): Promise<{ node: string; cpu: number }> => {
    const [node = ''] = await cluster.addKwokNodes(1);
    const cpu = await cpuOf(node);
    await apply(['blank-1', 'blank-2'].map((name) => pod(node, name, cpu, { priorityClassName })));
    await until('blank sandboxes run', async () => (await namesOn(node)).length === 2, PATIENCE_MS);
    // Times of start are in whole seconds.
    const second = Math.floor(Date.now() / 1_000);
    await until('a second later', () => Math.floor(Date.now() / 1_000) > second + 1, PATIENCE_MS);
    await apply(
      ['used-1', 'used-2'].map((name) =>
        pod(node, name, cpu, { priorityClassName, labels: { 'slipway.dev/claim': 'c' } }),
      ),
    );
    await until('the node is full', async () => (await namesOn(node)).length === SLOTS, PATIENCE_MS);
    return { node, cpu };
  };
  const withBudget = async (): Promise<void> => {
    await apply([budget]);
    const status = (): Promise<string> =>
      kubectl('-n', NAMESPACE, 'get', 'pdb', budget.metadata.name, '-o', 'jsonpath={.status.currentHealthy}');
    await until('the budget counts sandboxes in use', async () => Number((await status()) || '0') >= 2, PATIENCE_MS);
  };
  const withoutBudget = (): Promise<string> =>
    kubectl('-n', NAMESPACE, 'delete', 'pdb', budget.metadata.name, '--ignore-not-found');
  const clear = (): Promise<string> =>
    kubectl('-n', NAMESPACE, 'delete', 'pods', '--all', '--force', '--grace-period=0');

  it('waits without end where no pod has a class: unused sandboxes starve it', async () => {
    const { node, cpu } = await fullNode();
    await apply([pod(node, 'platform', cpu)]);
    await kubectl(
      '-n',
      NAMESPACE,
      'wait',
      `pod/${node}-platform`,
      '--for=condition=PodScheduled=false',
      '--timeout=50s',
    );
    expect(
      await kubectl(
        '-n',
        NAMESPACE,
        'get',
        'pod',
        `${node}-platform`,
        '-o',
        'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}',
      ),
    ).toMatch(/Insufficient cpu.*No preemption victims found/);
    expect(await namesOn(node)).toHaveLength(SLOTS);
    await clear();
  });

  it('takes the place of a blank sandbox while there is one, and of none in use, where the budget is on', async () => {
    const { node, cpu } = await fullNode('slipway-sandboxes');
    await withBudget();
    await apply([pod(node, 'platform-1', cpu, { priorityClassName: 'slipway-platform' })]);
    await until('it runs', async () => (await namesOn(node)).includes(`${node}-platform-1`), PATIENCE_MS);
    await apply([pod(node, 'platform-2', cpu, { priorityClassName: 'slipway-platform' })]);
    await until('the second runs', async () => (await namesOn(node)).includes(`${node}-platform-2`), PATIENCE_MS);
    expect(await namesOn(node)).toEqual(
      ['platform-1', 'platform-2', 'used-1', 'used-2'].map((name) => `${node}-${name}`),
    );
    // With no blank one left, the platform comes first all the same.
    await apply([pod(node, 'platform-3', cpu, { priorityClassName: 'slipway-platform' })]);
    await until('the third runs', async () => (await namesOn(node)).includes(`${node}-platform-3`), PATIENCE_MS);
    await clear();
    await withoutBudget();
  });

  it('takes the place of the youngest, in use or not, where the budget is off', async () => {
    const { node, cpu } = await fullNode('slipway-sandboxes');
    await apply([pod(node, 'platform', cpu, { priorityClassName: 'slipway-platform' })]);
    await until('it runs', async () => (await namesOn(node)).includes(`${node}-platform`), PATIENCE_MS);
    const left = await namesOn(node);
    expect(left).toEqual(expect.arrayContaining([`${node}-blank-1`, `${node}-blank-2`]));
    expect(left.filter((name) => name.includes('-used-'))).toHaveLength(1);
    await clear();
  });

  it('is not made to wait by the budget, whose price is a drain: an eviction of a sandbox in use is refused, of a blank one is not', async () => {
    const { node } = await fullNode('slipway-sandboxes');
    await withBudget();
    const evict = (name: string): Promise<string> =>
      cluster.kubectl(
        ['create', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods/${node}-${name}/eviction`, '-f', '-'],
        JSON.stringify({
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: `${node}-${name}`, namespace: NAMESPACE },
        }),
      );
    await expect(evict('used-1')).rejects.toThrow(/disruption budget/);
    await evict('blank-1');
    await withoutBudget();
    await evict('used-1');
  });
});

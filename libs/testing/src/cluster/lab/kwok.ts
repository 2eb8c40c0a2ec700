import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../../until.js';
import type { ComponentSpec } from './component.js';
import type { LabPlace } from './control-plane.js';

/** Longest until fake nodes are ready. Milliseconds. */
const NODES_TIMEOUT_MS = 120_000;
/** Nodes made at once. */
const AT_ONCE = 8;

/** The program that plays kubelet for the nodes that are annotated so. `stages` is the file of its rules. */
export async function kwok({ bin, directory, network, api }: LabPlace, stages: string): Promise<ComponentSpec> {
  const config = path.join(directory, 'kwok.yaml');
  const options = {
    manageNodesWithAnnotationSelector: 'kwok.x-k8s.io/node=fake',
    cidr: network.kwokRange,
    nodeIP: network.kwokNodeAddress,
    nodePort: 10247,
    nodeLeaseDurationSeconds: 40,
    nodeLeaseParallelism: 4,
    podPlayStageParallelism: 16,
    nodePlayStageParallelism: 4,
    enablePodsOnNodeSyncListPager: false,
    enablePodsOnNodeSyncStreamWatch: true,
  };
  const head = JSON.stringify({ apiVersion: 'config.kwok.x-k8s.io/v1alpha1', kind: 'KwokConfiguration', options });
  await writeFile(config, `${head}\n---\n${await readFile(stages, 'utf8')}`);
  return {
    name: 'kwok',
    command: path.join(bin, 'kwok'),
    args: [
      `--kubeconfig=${directory}/admin.kubeconfig`,
      `--config=${config}`,
      `--server-address=${network.nodeAddress}:10247`,
    ],
    ready: async () => void (await api.request('GET', '/readyz')),
  };
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly taints?: readonly { readonly key: string }[] };
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

/** Adds fake nodes `kwok-N`, counted on from those that are there, and waits until pods can be put on them. */
export async function addKwokNodes({ api }: LabPlace, count: number): Promise<string[]> {
  const list = (): Promise<NodeList> => api.get<NodeList>('/api/v1/nodes?labelSelector=type%3Dkwok');
  const first =
    Math.max(-1, ...(await list()).items.map(({ metadata }) => Number(metadata.name.slice('kwok-'.length)))) + 1;
  const names = Array.from({ length: count }, (_, index) => `kwok-${first + index}`);
  const queue = [...names];
  const make = async (): Promise<void> => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift())
      await api.request('POST', '/api/v1/nodes', fakeNode(name));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, make));
  await until(
    `${count} fake nodes are ready`,
    async () => {
      const ready = new Set((await list()).items.filter(isReady).map(({ metadata }) => metadata.name));
      return names.every((name) => ready.has(name));
    },
    NODES_TIMEOUT_MS,
  );
  return names;
}

function isReady({ spec, status }: NodeList['items'][number]): boolean {
  const says = status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
  return says && !spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/'));
}

function fakeNode(name: string): unknown {
  const resources = { cpu: '256', memory: '1Ti', pods: '2000', 'ephemeral-storage': '10Ti' };
  const labels = {
    type: 'kwok',
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, annotations: { 'kwok.x-k8s.io/node': 'fake', 'node.alpha.kubernetes.io/ttl': '0' } },
    spec: { taints: [{ key: 'kwok.x-k8s.io/node', value: 'fake', effect: 'NoSchedule' }] },
    status: { allocatable: resources, capacity: resources },
  };
}

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '@slipway/testing';
import { contractPod, RUNTIME_API, SANDBOXES } from './contract-pod.ts';
import type { KubeApi } from './kube-api.ts';
import { DESTINATIONS, NOT_PUBLIC } from './network-cases.ts';
import { contains } from './network-policy-semantics.ts';
import { newSlot, podsOf } from './platform-cluster.ts';

const PROBE = readFileSync(path.join(import.meta.dirname, 'reach-probe.py'), 'utf8');
/** Longest until a pod runs and says something. Milliseconds; the image may have to be pulled. */
const POD_MS = 120_000;

export type Target = readonly [protocol: 'TCP' | 'UDP', address: string, port: number];
export type Named = readonly [name: string, target: Target];
/** What a pod does; the words are reach-probe.py's. */
export interface Plan {
  readonly listen?: readonly (readonly ['TCP' | 'UDP', number])[];
  readonly hold?: Target;
  readonly until_held?: number;
  readonly attempt?: readonly Target[];
}
/** A line of reach-probe.py. */
export interface Line {
  readonly listening?: number;
  readonly held?: boolean;
  readonly reached?: readonly number[];
}
export interface Placed {
  readonly path: string;
  readonly ip: string;
}

/** Starts pods that run reach-probe.py and reads what they say. */
export class ReachPods {
  private readonly started: string[] = [];

  private readonly api: KubeApi;
  private readonly image: string;
  private readonly node: string;
  private readonly pull: 'Never' | 'IfNotPresent';

  /** @param node where all of them run. @param pull of the image, `Never` where it was imported. */
  constructor(api: KubeApi, image: string, node: string, pull: 'Never' | 'IfNotPresent') {
    this.api = api;
    this.image = image;
    this.node = node;
    this.pull = pull;
  }

  /** A pod as a sandbox is, of the class that may reach most; its agent-server is the probe. */
  sandbox(plan: Plan): Promise<Placed> {
    const body = contractPod(newSlot(), { image: this.image, egress: 'open' });
    const [main] = body.spec.containers;
    const [sidecar] = body.spec.initContainers;
    Object.assign(main, { command: this.command(plan), imagePullPolicy: this.pull });
    Object.assign(sidecar, { command: ['sleep', '3600'], imagePullPolicy: this.pull });
    // Not every cluster has user namespaces, and none is needed to try the network.
    Object.assign(body.spec, { hostUsers: undefined, nodeSelector: { 'kubernetes.io/hostname': this.node } });
    return this.start(SANDBOXES, body.metadata.name, body, RUNTIME_API);
  }

  /** A pod that is not a sandbox. */
  plain(
    namespace: string,
    plan: Plan,
    labels: Readonly<Record<string, string>> = {},
    hostNetwork = false,
  ): Promise<Placed> {
    const name = `reach-${newSlot()}`;
    const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const env = [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
    const container = {
      name: 'agent-server',
      image: this.image,
      imagePullPolicy: this.pull,
      command: this.command(plan),
      env,
      securityContext,
    };
    return this.start(namespace, name, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels },
      spec: {
        hostNetwork,
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 0,
        nodeSelector: { 'kubernetes.io/hostname': this.node },
        securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [container],
      },
    });
  }

  /** All that it has said; nothing while it has not started. */
  async lines(pod: Placed): Promise<readonly Line[]> {
    const { status, body } = await this.api.ask(`${pod.path}/log?container=agent-server`);
    if (status !== 200) return [];
    // The first line is a heading, and the last one may be half written.
    return (body.message ?? '')
      .split('\n')
      .slice(1, -1)
      .map((line) => JSON.parse(line) as Line);
  }

  /** What `pick` finds in all that it has said. @throws Error when it has not said so in time. */
  says<T>(
    what: string,
    pod: Placed,
    pick: (lines: readonly Line[]) => T,
    timeoutMs = POD_MS,
  ): Promise<NonNullable<Exclude<T, false>>> {
    return until(what, async () => pick(await this.lines(pod)), timeoutMs);
  }

  async close(): Promise<void> {
    await Promise.all(
      this.started.map((pod) =>
        this.api.ask(`${pod}?gracePeriodSeconds=0`, {
          method: 'DELETE',
          as: pod.includes(`/${SANDBOXES}/`) ? RUNTIME_API : undefined,
        }),
      ),
    );
  }

  private readonly command = (plan: Plan): string[] => ['python3', '-c', PROBE, JSON.stringify(plan)];

  private async start(namespace: string, name: string, body: unknown, as?: string): Promise<Placed> {
    const made = await this.api.ask(podsOf(namespace), { method: 'POST', body, ...(as === undefined ? {} : { as }) });
    if (made.status !== 201) throw new Error(`${namespace}/${name} was refused: ${made.body.message}`);
    const pod = `${podsOf(namespace)}/${name}`;
    this.started.push(pod);
    const ip = await until(
      `${namespace}/${name} runs`,
      async () => (await this.api.ask<{ status: { phase: string; podIP?: string } }>(pod)).body.status.podIP,
      POD_MS,
    );
    return { path: pod, ip };
  }
}

/**
 * What every cluster has that no sandbox may reach: its nodes, its API server by both addresses, and whatever of it
 * listens as Postgres or Redis do.
 */
export async function targetsOf(api: KubeApi): Promise<Named[]> {
  interface Node {
    readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
  }
  interface Service {
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly spec: { readonly clusterIP?: string; readonly ports?: readonly { readonly port: number }[] };
  }
  interface Endpoints {
    readonly endpoints: readonly { readonly addresses: readonly string[] }[];
    readonly ports: readonly { readonly port: number }[];
  }
  const list = async <T>(from: string): Promise<readonly T[]> =>
    (await api.ask<{ items: readonly T[] }>(from)).body.items;
  const nodes = (await list<Node>('/api/v1/nodes')).flatMap(({ status }) =>
    status.addresses.filter(({ type }) => type.endsWith('IP')),
  );
  const found: Named[] = nodes.map(({ address }) => [`the kubelet of ${address}`, ['TCP', address, 10_250]]);
  for (const { metadata, spec } of await list<Service>('/api/v1/services'))
    for (const { port } of spec.ports ?? [])
      if (
        spec.clusterIP !== undefined &&
        spec.clusterIP !== 'None' &&
        (metadata.name === 'kubernetes' || port === 5432 || port === 6379)
      )
        found.push([`the service ${metadata.namespace}/${metadata.name}`, ['TCP', spec.clusterIP, port]]);
  const slices = await list<Endpoints>(
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes',
  );
  for (const { endpoints, ports } of slices)
    for (const address of endpoints.flatMap(({ addresses }) => addresses))
      for (const { port } of ports) found.push([`the API server at ${address}`, ['TCP', address, port]]);
  return found;
}

/**
 * The addresses of `DESTINATIONS` that are no pod's and not public. Those of the pod itself are left out: no network
 * policy is asked about them.
 */
export const FIXED: readonly Named[] = DESTINATIONS.flatMap(({ name, to, protocol = 'TCP', port }): Named[] => {
  if (
    'namespace' in to ||
    protocol === 'SCTP' ||
    ['127.0.0.0/8', '0.0.0.0/8', '::1/128'].some((own) => contains(own, to.ip))
  )
    return [];
  return NOT_PUBLIC.some((range) => contains(range, to.ip)) ? [[name, [protocol, to.ip, port]]] : [];
});

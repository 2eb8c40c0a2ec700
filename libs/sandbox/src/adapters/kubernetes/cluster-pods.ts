import type { Logger } from '@slipway/telemetry';
import type { ClusterError } from './cluster-error.js';
import { carryEnds, type NodeView, type PodView, readNode, readPod } from './cluster-objects.js';
import type { KubeApi } from './kube-api.js';
import { addressOf, type NodeSeen, observationOf } from './pod-status.js';
import { PodListReader } from './pod-wire.js';
import { AGENT_SERVER_PORT, MANAGED_BY } from './sandbox-pod.js';
import type { Timing } from './timing.js';
import { ClusterWatch } from './watch.js';
import { WatchCache } from './watch-cache.js';

export interface ClusterHealth {
  /** Pods and nodes were listed once. */
  readonly synced: boolean;
  /** How long the older of the two watches has been cut. Milliseconds; 0 while both are open. */
  readonly staleForMs: number;
  readonly pods: number;
  /** Whole lists so far. */
  readonly lists: number;
  /** Why a watch is cut. */
  readonly problem: ClusterError | null;
}

/**
 * While the API server is away no node can be heard there, and the first thing that the cluster says of its nodes
 * afterwards may be that they are silent. For so long that is no reason to give up what is warm on them; a node that is
 * really dead costs a claim one more try. Milliseconds; as long as the cluster itself waits for a node, at least.
 */
const EXCUSED_MS = 50_000;
const SILENCE_TAINTS: ReadonlySet<string> = new Set(['node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready']);

/**
 * Our pods and all nodes of the cluster, kept in step by two watches. What is not here may exist all the same: absence
 * is asked of the API server.
 */
export class ClusterPods {
  private readonly pods = new WatchCache<PodView>(carryEnds);
  private readonly nodes = new WatchCache<NodeView>();
  private readonly watches: readonly [ClusterWatch<PodView>, ClusterWatch<NodeView>];
  private readonly listeners = new Set<() => void>();
  private readonly closed = new AbortController();
  private readonly running: Promise<unknown>;
  private announced = false;
  readonly path: string;

  constructor(
    private readonly api: KubeApi,
    namespace: string,
    private readonly timing: Timing,
    logger: Logger,
    private readonly port = AGENT_SERVER_PORT,
  ) {
    this.path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
    const labelSelector = Object.entries(MANAGED_BY)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    const both = { api, timing, logger, onChange: () => this.announce() };
    this.watches = [
      new ClusterWatch({
        ...both,
        path: this.path,
        labelSelector,
        noun: 'pods',
        read: readPod,
        readList: () => new PodListReader(),
        cache: this.pods,
      }),
      new ClusterWatch({ ...both, path: '/api/v1/nodes', noun: 'nodes', read: readNode, cache: this.nodes }),
    ];
    this.running = Promise.all(this.watches.map((watch) => watch.run(this.closed.signal)));
  }

  get health(): ClusterHealth {
    return {
      synced: this.watches.every((watch) => watch.synced),
      staleForMs: Math.max(...this.watches.map((watch) => watch.staleForMs)),
      pods: this.pods.size,
      lists: this.watches.reduce((sum, watch) => sum + watch.lists, 0),
      problem: this.watches.map((watch) => watch.lastError).find((error) => error !== null) ?? null,
    };
  }

  get(name: string): PodView | undefined {
    return this.pods.get(name);
  }

  values(): IterableIterator<PodView> {
    return this.pods.values();
  }

  /** As the API server has it now; `null` when there is none. @throws ClusterError */
  async fetch(name: string, signal: AbortSignal): Promise<PodView | null> {
    const object = await this.api.get('claim', `${this.path}/${encodeURIComponent(name)}`, 'read the sandbox', signal);
    if (object !== null) {
      this.learn(object);
      // The cache may know of a later end of its tool process.
      const read = readPod(object);
      const known = this.pods.get(name);
      return known?.uid === read.uid ? known : read;
    }
    const known = this.pods.get(name);
    if (known !== undefined && this.pods.delete(known)) this.announce();
    return null;
  }

  /** Applies an answer of the API server before the watch reports it. */
  learn(object: unknown): void {
    if (this.pods.set(readPod(object))) this.announce();
  }

  node(pod: PodView): NodeSeen {
    if (pod.node === null) return 'unknown';
    const node = this.nodes.get(pod.node);
    if (node === undefined) return this.nodes.isAbsent(pod.node, pod.version) ? 'lost' : 'unknown';
    return node.silent && this.isAfterOutage()
      ? { ...node, ready: true, taints: node.taints.filter(({ key }) => !SILENCE_TAINTS.has(key)) }
      : node;
  }

  private isAfterOutage(): boolean {
    const returnedAt = Math.max(this.api.stoodStillAt, ...this.watches.map((watch) => watch.returnedAt));
    return this.timing.now() - returnedAt < EXCUSED_MS;
  }

  observe(pod: PodView): ReturnType<typeof observationOf> {
    return observationOf(pod, this.node(pod), this.port);
  }

  /** Where agent-server answers while its process runs, also while the pod terminates; `null` when it does not run. */
  addressOf(pod: PodView): string | null {
    return addressOf(pod, this.port);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Waits for the next change, at most so long. Never rejects. */
  nextChange(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        unlisten();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      const unlisten = this.onChange(end);
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }

  async close(): Promise<void> {
    this.closed.abort();
    await this.running;
  }

  /** Once for all events of one batch. */
  private announce(): void {
    if (this.announced) return;
    this.announced = true;
    setImmediate(() => {
      this.announced = false;
      for (const listener of [...this.listeners]) listener();
    });
  }
}

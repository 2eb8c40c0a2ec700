import type { ChildProcess } from 'node:child_process';

export interface TestClusterOptions {
  /** Fake nodes to begin with [0]: their pods get an address and become ready, and no process runs in them. */
  readonly kwokNodes?: number;
  /** A node that runs containers [true]. Without it the cluster starts a second sooner. */
  readonly realNode?: boolean;
  /** etcd writes to the disk before it answers [false]: for figures, not for tests. */
  readonly fsync?: boolean;
  /** Every write to the API server is noted in `auditLog` [false]. */
  readonly audit?: boolean;
  /** Cluster addresses of services work on the real node [false]. Needs the program `nft`. */
  readonly kubeProxy?: boolean;
  /** Pods of the real node find services by their names [false]. */
  readonly dns?: boolean;
  /**
   * With `dns`: names beside those of services, such as `slipway.test`, that lead pods to `hostAddress`;
   * `hostCertificate` is for them, and may have wildcards.
   */
  readonly hostNames?: readonly string[];
  /**
   * Seconds without a word from a kubelet until its node is NotReady [40]. A short one takes a slow machine for a dead
   * node.
   */
  readonly nodeGraceSeconds?: number;
  /** Further flags of the API server, such as `--max-mutating-requests-inflight=20`. */
  readonly apiServerFlags?: readonly string[];
  /** Whether it ends with this process, however that ends [`process`], or stays until it is taken down. */
  readonly lifetime?: 'process' | 'detached';
  /** What it is called for `npm run cluster -- down` [a random name]. */
  readonly name?: string;
  /** Takes progress, a line at a time [standard error]. Silent unless something is built. */
  readonly say?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** A program of the cluster that can be made to fail. Each returns when it is so. */
export interface ClusterComponent {
  /** SIGKILL: connections break at once, nothing is tidied up. */
  stop(): Promise<void>;
  /** Starts it again and waits until it answers. */
  start(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): Promise<void>;
  /** SIGCONT. */
  resume(): Promise<void>;
}

/** What can be done with a cluster beside asking its API server; a method that cannot throws an Error that says so. */
export interface ClusterCapabilities {
  /**
   * Programs of the control plane and the kubelet can be stopped, containers killed, `spawnInside` and `usage` work.
   */
  readonly faults: boolean;
  /** The test's process reaches pods at their own addresses, and they reach it at `hostAddress`. */
  readonly podAddresses: boolean;
  readonly kwok: boolean;
  readonly importImage: boolean;
}

export interface ComponentUsage {
  readonly component: string;
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** PEM texts. They last a month. */
export interface HostCertificate {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

export interface TestCluster {
  readonly kind: 'built' | 'kind' | 'given';
  readonly name: string;
  readonly capabilities: ClusterCapabilities;
  /** A file; its user may do everything, and holds everything it needs inline. */
  readonly kubeconfig: string;
  /** A kubectl of the server's version. */
  readonly kubectlProgram: string;
  /** Where pods find services that this machine offers on all its addresses. */
  readonly hostAddress: string;
  /**
   * Of a server that listens there under the names of `hostNames`, and who signed it; `null` when none were asked for.
   */
  readonly hostCertificate: HostCertificate | null;
  /** Name of the node that runs containers. */
  readonly realNode: string;
  /**
   * Addresses that fake pods get, such as `198.18.0.0/18`. Connections to them arrive at whoever listens inside on all
   * addresses.
   */
  readonly kwokRange: string;
  /** A file of one JSON object a line (`audit.k8s.io/v1` Event), one a write; `null` when it was not asked for. */
  readonly auditLog: string | null;
  readonly apiServer: ClusterComponent;
  readonly kubelet: ClusterComponent;
  readonly etcd: ClusterComponent;
  readonly scheduler: ClusterComponent;
  readonly controllerManager: ClusterComponent;

  /** Standard output of `kubectl`. @throws Error with what it said when it fails or takes longer than a minute. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Takes an image archive (OCI or docker) into the real node. */
  importImage(archive: string): Promise<void>;
  /**
   * Adds fake nodes, tainted `kwok.x-k8s.io/node=fake:NoSchedule`, labelled `type=kwok`, and waits until they are
   * ready. @returns their names.
   */
  addKwokNodes(count: number): Promise<string[]>;
  /** Signals the first process of a container, with no word to Kubernetes. */
  killContainer(podUid: string, containerName: string, signal?: NodeJS.Signals): Promise<void>;
  /** Runs a process of this machine in the cluster's network. It is ended with the cluster. */
  spawnInside(command: string, args: readonly string[], environment?: NodeJS.ProcessEnv): ChildProcess;
  /** What each program of the cluster has used so far and holds now. */
  usage(): ComponentUsage[];
  /** The last part of a component's log, such as `kubelet`. */
  log(component: string): Promise<string>;
  /** Ends it and removes every trace of it. May be called twice. */
  close(): Promise<void>;
}

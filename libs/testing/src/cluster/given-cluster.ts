import { findProgram } from './find-program.js';
import { kubectl } from './kubectl.js';
import type { ClusterComponent, TestCluster } from './test-cluster.js';
import { ClusterUnavailable } from './unavailable.js';

/** The kubeconfig that the environment names for tests; `null` when it names none. */
export function givenKubeconfig(): string | null {
  return process.env['SLIPWAY_TEST_KUBECONFIG'] || process.env['KUBECONFIG'] || null;
}

/** @throws Error: what a cluster that is not this harness's own cannot do. */
export function cannot(what: string): never {
  throw new Error(
    `${what} is not possible on a cluster that this harness did not build: ask for its capabilities first`,
  );
}

/** A program of a cluster that cannot be made to fail. */
export function untouchable(name: string): ClusterComponent {
  const refuse = async (): Promise<never> => cannot(`stopping ${name}`);
  return { stop: refuse, start: refuse, pause: refuse, resume: refuse };
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  }[];
}

/** The first node that is not kwok's. */
export async function findRealNode(ask: (args: readonly string[]) => Promise<string>): Promise<string> {
  const { items } = JSON.parse(await ask(['get', 'nodes', '-o', 'json'])) as NodeList;
  const node = items.find(({ metadata }) => metadata.annotations?.['kwok.x-k8s.io/node'] === undefined);
  if (node === undefined) throw new Error('the cluster has no node that runs containers');
  return node.metadata.name;
}

/**
 * A foreign cluster: it is only read, nothing in it is broken, and it is left as it is.
 *
 * @throws ClusterUnavailable without `kubectl`; Error when it does not answer.
 */
export async function openGivenCluster(kubeconfig: string): Promise<TestCluster> {
  const program = findProgram('kubectl');
  if (program === null)
    throw new ClusterUnavailable(`A cluster is given (${kubeconfig}), and kubectl is not on the PATH to talk to it.`);
  const ask = (args: readonly string[], input?: string): Promise<string> => kubectl(program, kubeconfig, args, input);
  return {
    kind: 'given',
    name: kubeconfig,
    capabilities: { faults: false, podAddresses: false, kwok: false, importImage: false },
    kubeconfig,
    kubectlProgram: program,
    realNode: await findRealNode(ask),
    get hostAddress(): string {
      return cannot('reaching this machine from a pod');
    },
    hostCertificate: null,
    get kwokRange(): string {
      return cannot('adding fake nodes');
    },
    auditLog: null,
    apiServer: untouchable('the API server'),
    kubelet: untouchable('a kubelet'),
    etcd: untouchable('etcd'),
    scheduler: untouchable('the scheduler'),
    controllerManager: untouchable('the controller manager'),
    kubectl: ask,
    importImage: async () => cannot('importing an image'),
    addKwokNodes: async () => cannot('adding fake nodes'),
    killContainer: async () => cannot('killing a container'),
    spawnInside: () => cannot('entering its network'),
    usage: () => cannot('measuring its programs'),
    log: async () => cannot('reading the logs of its programs'),
    close: async () => {},
  };
}

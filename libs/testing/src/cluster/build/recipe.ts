/** What a test cluster is built from. All of it comes as Go modules; a change here makes a new folder in the cache. */

export const KUBERNETES_VERSION = '1.36.3';
export const KWOK_VERSION = '0.8.0';

/** One call of the Go compiler. The flags are the same everywhere so that the programs share one build cache. */
export interface BuildStep {
  readonly what: string;
  /**
   * A folder of libs/testing/cluster, built with its own go.mod; `null` for programs that `go install` takes by their
   * version.
   */
  readonly module: string | null;
  /** Packages of that module, or `path@version`. */
  readonly packages: readonly string[];
  /** Where the programs go, below the cache's folder. */
  readonly into: 'bin' | 'bin/cni';
  /** Name of the program when it is not the package's last part. */
  readonly program?: string;
  readonly ldflags?: string;
  readonly tags?: string;
  /** runc alone is partly C, for seccomp. */
  readonly cgo?: true;
}

const VERSION = 'k8s.io/component-base/version';
/** Without it the server says v0.0.0 and clients refuse it. */
const KUBERNETES_LDFLAGS = [
  `-X ${VERSION}.gitVersion=v${KUBERNETES_VERSION}`,
  `-X ${VERSION}.gitMajor=1`,
  `-X ${VERSION}.gitMinor=36`,
  `-X ${VERSION}.gitTreeState=clean`,
  `-X ${VERSION}.gitCommit=module`,
].join(' ');
const CONTAINERD = 'github.com/containerd/containerd/v2/cmd';
const CNI = 'github.com/containernetworking/plugins/plugins';

export const BUILD_STEPS: readonly BuildStep[] = [
  { what: 'pause, init, pki and echo', module: 'lab', packages: ['./pause', './init', './pki', './echo'], into: 'bin' },
  { what: 'etcd 3.6.16', module: 'etcd', packages: ['.'], into: 'bin', program: 'etcd' },
  {
    what: `Kubernetes ${KUBERNETES_VERSION}`,
    module: 'kube',
    packages: ['.'],
    into: 'bin',
    program: 'kube',
    ldflags: KUBERNETES_LDFLAGS,
  },
  { what: `kwok ${KWOK_VERSION}`, module: null, packages: [`sigs.k8s.io/kwok/cmd/kwok@v${KWOK_VERSION}`], into: 'bin' },
  {
    what: 'containerd 2.3.7',
    module: null,
    packages: ['containerd', 'containerd-shim-runc-v2', 'ctr'].map((name) => `${CONTAINERD}/${name}@v2.3.7`),
    into: 'bin',
  },
  {
    what: 'runc 1.4.3',
    module: null,
    packages: ['github.com/opencontainers/runc@v1.4.3'],
    into: 'bin',
    tags: 'seccomp',
    cgo: true,
  },
  {
    what: 'CNI plugins 1.9.1',
    module: null,
    packages: ['main/bridge', 'main/loopback', 'ipam/host-local'].map((name) => `${CNI}/${name}@v1.9.1`),
    into: 'bin/cni',
  },
  { what: 'CoreDNS 1.15.0', module: 'dns', packages: ['.'], into: 'bin', program: 'coredns' },
];

/** Names that the one Kubernetes program is called by. */
export const KUBERNETES_PROGRAMS = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
];

/**
 * kwok's rules of how a fake node and its pods get ready, below the module's `kustomize/stage`: the program has none of
 * its own.
 */
export const KWOK_STAGES = [
  'node/fast/node-initialize.yaml',
  'pod/fast/pod-ready.yaml',
  'pod/fast/pod-complete.yaml',
  'pod/fast/pod-delete.yaml',
];

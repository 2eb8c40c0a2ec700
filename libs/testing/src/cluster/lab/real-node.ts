import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { PAUSE_IMAGE } from '../build/build.js';
import type { ComponentSpec } from './component.js';
import type { LabPlace } from './control-plane.js';
import { CLUSTER_DOMAIN } from './dns.js';
import { PLAIN_ENVIRONMENT } from './namespaces.js';

const run = promisify(execFile);

export const REAL_NODE = 'real-0';

export async function containerd({ bin, directory, network }: LabPlace): Promise<ComponentSpec> {
  const root = path.join(directory, 'containerd');
  const networks = path.join(directory, 'cni');
  await Promise.all([mkdir(root, { recursive: true }), mkdir(networks, { recursive: true })]);
  const ipam = {
    type: 'host-local',
    dataDir: path.join(directory, 'cni-addresses'),
    ranges: [[{ subnet: network.podRange }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  await writeFile(
    path.join(networks, '10-slipway.conflist'),
    JSON.stringify({ cniVersion: '1.0.0', name: 'slipway', plugins: [bridge] }),
  );
  const config = path.join(root, 'config.toml');
  await writeFile(config, containerdConfig(bin, root, networks, await mayRaiseLimits()));
  return {
    name: 'containerd',
    command: path.join(bin, 'containerd'),
    args: ['--config', config],
    path: bin,
    ready: async () => void (await ctr(bin, directory, ['version'])),
  };
}

/**
 * `state` lies where the namespace has a /run of its own: every user may walk there, which a container with a user
 * namespace must.
 *
 * `restrict_oom_score_adj`: without CAP_SYS_RESOURCE a container's score cannot be set below that of containerd, and
 * runc would refuse.
 */
function containerdConfig(bin: string, root: string, networks: string, mayRaise: boolean): string {
  return `version = 3
root = "${root}/root"
state = "/run/containerd"
[grpc]
  address = "${root}/containerd.sock"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${PAUSE_IMAGE}"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = ${!mayRaise}
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = "${bin}/runc"
        SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["${bin}/cni"]
    conf_dir = "${networks}"
`;
}

/** Bit 24 of the effective capabilities. */
async function mayRaiseLimits(): Promise<boolean> {
  const [, bits = '0'] = /^CapEff:\s*([0-9a-f]+)$/m.exec(await readFile('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${bits}`) >> 24n) & 1n) === 1n;
}

/**
 * Asks containerd, in the namespace of Kubernetes. The socket is a file: this works from outside. @returns what it
 * printed.
 */
export async function ctr(bin: string, directory: string, args: readonly string[], timeout = 10_000): Promise<string> {
  const socket = path.join(directory, 'containerd/containerd.sock');
  const { stdout } = await run(path.join(bin, 'ctr'), ['-a', socket, '-n', 'k8s.io', ...args], {
    timeout,
    env: PLAIN_ENVIRONMENT,
  });
  return stdout;
}

interface Node {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  readonly spec: { readonly taints?: readonly { readonly key: string }[] };
}

export async function kubelet(
  { bin, directory, network, api }: LabPlace,
  cgroup: string,
  nodeGraceSeconds: number,
  dns: boolean,
): Promise<ComponentSpec> {
  const pki = path.join(directory, 'pki');
  const config = path.join(directory, 'kubelet.json');
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      failCgroupV1: false,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: `/${cgroup}`,
      containerRuntimeEndpoint: `unix://${directory}/containerd/containerd.sock`,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: `${pki}/ca.crt` },
      },
      authorization: { mode: 'Webhook' },
      tlsCertFile: `${pki}/kubelet-server.crt`,
      tlsPrivateKeyFile: `${pki}/kubelet-server.key`,
      failSwapOn: false,
      resolvConf: '',
      ...(dns ? { clusterDNS: [network.nodeAddress], clusterDomain: CLUSTER_DOMAIN } : {}),
      podLogsDir: `${directory}/pod-logs`,
      volumePluginDir: `${directory}/volume-plugins`,
      serializeImagePulls: false,
      podPidsLimit: 1024,
      maxPods: 250,
      nodeLeaseDurationSeconds: nodeGraceSeconds,
      nodeStatusUpdateFrequency: `${Math.max(1, Math.floor(nodeGraceSeconds / 4))}s`,
      // Images that a test brought must not go, however full the disk is.
      imageGCHighThresholdPercent: 100,
      imageGCLowThresholdPercent: 99,
      evictionHard: {
        'memory.available': '100Mi',
        'nodefs.available': '1%',
        'imagefs.available': '1%',
        'nodefs.inodesFree': '1%',
      },
      // A volume beyond its size is noticed within seconds; elsewhere it takes a minute.
      volumeStatsAggPeriod: '5s',
      kubeAPIQPS: 200,
      kubeAPIBurst: 400,
    }),
  );
  return {
    name: 'kubelet',
    command: path.join(bin, 'kubelet'),
    args: [
      `--config=${config}`,
      `--kubeconfig=${directory}/kubelet.kubeconfig`,
      `--root-dir=${directory}/kubelet`,
      `--hostname-override=${REAL_NODE}`,
      `--node-ip=${network.nodeAddress}`,
      '--node-labels=slipway.dev/real=true',
      '--v=2',
    ],
    path: bin,
    ready: async () => {
      const { status, spec } = await api.get<Node>(`/api/v1/nodes/${REAL_NODE}`);
      const ready = status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
      // Nothing is scheduled there before the controller has taken this away.
      if (!ready || spec.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/')))
        throw new Error('the node is not ready');
    },
  };
}

/** Cluster addresses of services, by nftables. */
export function kubeProxy({ bin, directory, network }: LabPlace): ComponentSpec {
  return {
    name: 'kube-proxy',
    command: path.join(bin, 'kube-proxy'),
    args: [
      `--kubeconfig=${directory}/proxy.kubeconfig`,
      `--hostname-override=${REAL_NODE}`,
      '--proxy-mode=nftables',
      `--cluster-cidr=${network.podRange}`,
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-established=0s',
      '--conntrack-tcp-timeout-close-wait=0s',
    ],
    ready: async () => {},
  };
}

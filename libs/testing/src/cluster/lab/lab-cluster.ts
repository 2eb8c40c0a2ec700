import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { kubectl } from '../kubectl.js';
import type { ComponentUsage, HostCertificate, TestCluster, TestClusterOptions } from '../test-cluster.js';
import { ApiClient } from './api-client.js';
import { makeCgroup } from './cgroups.js';
import { Component, type ComponentSpec } from './component.js';
import { AUDIT_LOG, apiServer, controllerManager, etcd, type LabPlace, scheduler } from './control-plane.js';
import { dns, HOST_CERTIFICATE, readHostCertificate } from './dns.js';
import { importImage } from './import-image.js';
import { writeKubeconfig } from './kubeconfig.js';
import { addKwokNodes, kwok } from './kwok.js';
import {
  type ClusterRecord,
  cgroupOf,
  clusterFolder,
  removeCluster,
  removeLeftovers,
  thisBoot,
  writeRecord,
} from './leftovers.js';
import { enterNetwork, openNamespaces, PLAIN_ENVIRONMENT } from './namespaces.js';
import { joinNetwork, leaveNetwork, SERVICE_ADDRESS } from './network.js';
import { processStart } from './process-table.js';
import { containerd, ctr, kubelet, kubeProxy, REAL_NODE } from './real-node.js';

const run = promisify(execFile);
const NODE_GRACE_SECONDS = 40;

/** Brings up a cluster from built programs. `programs` is the folder of them. Leaves nothing when it fails. */
export async function openLabCluster(programs: string, options: TestClusterOptions): Promise<TestCluster> {
  await removeLeftovers();
  const id = randomBytes(4).toString('hex');
  const directory = clusterFolder(id);
  const lifetime = options.lifetime ?? 'process';
  let record: ClusterRecord = {
    id,
    name: options.name ?? id,
    boot: await thisBoot(),
    lifetime,
    opener: { pid: process.pid, start: processStart(process.pid) },
    holder: null,
    kubeconfig: path.join(directory, 'admin.kubeconfig'),
  };
  await writeRecord(record);
  const closing: (() => Promise<void>)[] = [() => removeCluster(record)];
  const close = async (): Promise<void> => {
    for (let step = closing.pop(); step !== undefined; step = closing.pop()) await step();
  };
  try {
    const bin = path.join(programs, 'bin');
    await mkdir(path.join(directory, 'logs'), { recursive: true });
    await mkdir(path.join(directory, 'pki'), { recursive: true });
    const namespaces = await openNamespaces(path.join(bin, 'init'), directory, REAL_NODE, lifetime);
    closing.push(() => namespaces.end());
    record = { ...record, holder: { pid: namespaces.pid, start: processStart(namespaces.pid) } };
    await Promise.all([writeRecord(record), makeCgroup(cgroupOf(id))]);
    const network = await joinNetwork(namespaces.pid, { services: options.kubeProxy === true });
    closing.push(() => leaveNetwork(network));
    const pki = path.join(directory, 'pki');
    const hostNames = options.hostNames ?? [];
    const forHost = hostNames.length === 0 ? [] : [HOST_CERTIFICATE, ...hostNames];
    await run(path.join(bin, 'pki'), [pki, REAL_NODE, network.nodeAddress, SERVICE_ADDRESS, ...forHost]);
    const server = `https://${network.nodeAddress}:6443`;
    const users = ['admin', 'controller-manager', 'scheduler', 'kubelet', 'proxy'];
    await Promise.all(
      users.map((user) => writeKubeconfig(path.join(directory, `${user}.kubeconfig`), server, pki, user)),
    );
    const api = new ApiClient(server, pki);
    closing.push(async () => api.close());
    const place: LabPlace = { bin, directory, network, api };
    const components = await startAll(place, namespaces.pid, programs, cgroupOf(id), options);
    const cluster = new LabCluster(
      place,
      record,
      components,
      namespaces.pid,
      options.audit === true,
      hostNames.length === 0 ? null : await readHostCertificate(pki),
      close,
      closing,
    );
    if ((options.kwokNodes ?? 0) > 0) await cluster.addKwokNodes(options.kwokNodes ?? 0);
    return cluster;
  } catch (error) {
    await close();
    throw error;
  }
}

type Components = Readonly<
  Record<
    'etcd' | 'apiServer' | 'controllerManager' | 'scheduler' | 'kwok' | 'containerd' | 'kubelet' | 'kubeProxy' | 'dns',
    Component
  >
>;

/** What does not wait for another starts at once: the control plane comes up while containerd takes in its image. */
async function startAll(
  place: LabPlace,
  pid: number,
  programs: string,
  cgroup: string,
  options: TestClusterOptions,
): Promise<Components> {
  const { bin, directory, api } = place;
  const grace = options.nodeGraceSeconds ?? NODE_GRACE_SECONDS;
  const component = (spec: ComponentSpec): Component => new Component(spec, pid, directory);
  const components: Components = {
    etcd: component(etcd(place, options.fsync === true)),
    apiServer: component(await apiServer(place, options)),
    controllerManager: component(controllerManager(place, grace)),
    scheduler: component(scheduler(place)),
    kwok: component(await kwok(place, path.join(programs, 'stages.yaml'))),
    containerd: component(await containerd(place)),
    kubelet: component(await kubelet(place, cgroup, grace, options.dns === true)),
    kubeProxy: component(kubeProxy(place)),
    dns: component(await dns(place, options.hostNames ?? [])),
  };
  const realNode = options.realNode ?? true;
  const runtime = async (): Promise<void> => {
    await components.containerd.start();
    await ctr(bin, directory, ['images', 'import', path.join(programs, 'pause.tar')]);
  };
  const controllers = async (): Promise<void> => {
    await components.etcd.start();
    await components.apiServer.start();
    const others = [components.controllerManager.start(), components.scheduler.start()];
    if (realNode) others.push(runtimeReady.then(() => components.kubelet.start()));
    if (realNode && options.kubeProxy === true) others.push(startProxy(components.kubeProxy, api));
    if (realNode && options.dns === true) others.push(components.dns.start());
    if ((options.kwokNodes ?? 0) > 0) others.push(components.kwok.start());
    await Promise.all(others);
  };
  const runtimeReady = realNode ? runtime() : Promise.resolve();
  // Both are waited for below; a failure of this one must not count as unhandled meanwhile.
  runtimeReady.catch(() => {});
  await Promise.all([controllers(), runtimeReady]);
  return components;
}

async function startProxy(proxy: Component, api: ApiClient): Promise<void> {
  await api.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'kube-proxy' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-proxier' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:kube-proxy' }],
  });
  await proxy.start();
}

class LabCluster implements TestCluster {
  readonly kind = 'built';
  readonly capabilities = { faults: true, podAddresses: true, kwok: true, importImage: true };
  readonly realNode = REAL_NODE;
  readonly auditLog: string | null;

  constructor(
    private readonly place: LabPlace,
    private readonly record: ClusterRecord,
    private readonly components: Components,
    private readonly pid: number,
    audit: boolean,
    readonly hostCertificate: HostCertificate | null,
    readonly close: () => Promise<void>,
    private readonly closing: (() => Promise<void>)[],
  ) {
    this.auditLog = audit ? path.join(place.directory, AUDIT_LOG) : null;
  }

  get name(): string {
    return this.record.name;
  }
  get kubeconfig(): string {
    return this.record.kubeconfig;
  }
  get kubectlProgram(): string {
    return path.join(this.place.bin, 'kubectl');
  }
  get hostAddress(): string {
    return this.place.network.hostAddress;
  }
  get kwokRange(): string {
    return this.place.network.kwokRange;
  }
  get apiServer(): Component {
    return this.components.apiServer;
  }
  get kubelet(): Component {
    return this.components.kubelet;
  }
  get etcd(): Component {
    return this.components.etcd;
  }
  get scheduler(): Component {
    return this.components.scheduler;
  }
  get controllerManager(): Component {
    return this.components.controllerManager;
  }

  kubectl(args: readonly string[], input?: string): Promise<string> {
    return kubectl(this.kubectlProgram, this.kubeconfig, args, input, path.join(this.place.directory, 'kubectl'));
  }

  async importImage(archive: string): Promise<void> {
    await importImage(this.record, archive);
  }

  async addKwokNodes(count: number): Promise<string[]> {
    await this.components.kwok.start();
    return addKwokNodes(this.place, count);
  }

  async killContainer(podUid: string, containerName: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const filter = `labels."io.kubernetes.pod.uid"==${podUid},labels."io.kubernetes.container.name"==${containerName}`;
    const ask = (...args: string[]): Promise<string> => ctr(this.place.bin, this.place.directory, args);
    const known = (await ask('containers', 'ls', '-q', filter)).split('\n').filter(Boolean);
    const running = new Set(
      (await ask('tasks', 'ls'))
        .split('\n')
        .flatMap((line) => (/\sRUNNING\s*$/.test(line) ? [line.split(/\s/)[0]] : [])),
    );
    // Attempts that have ended stay listed.
    const targets = known.filter((id) => running.has(id));
    if (targets.length === 0)
      throw new Error(`no container ${containerName} of the pod ${podUid} runs on ${REAL_NODE}`);
    for (const id of targets) await ask('tasks', 'kill', '-s', signal, id);
  }

  spawnInside(command: string, args: readonly string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
    const [program, ...rest] = [...enterNetwork(this.pid), command, ...args];
    const child = spawn(program as string, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...PLAIN_ENVIRONMENT, ...environment },
    });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
    this.closing.push(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    return child;
  }

  usage(): ComponentUsage[] {
    return Object.values(this.components).flatMap((component) => component.usage());
  }

  log(component: string): Promise<string> {
    const found = Object.values(this.components).find(({ name }) => name === component);
    if (found === undefined) throw new Error(`no component is called ${component}`);
    return found.lastWords();
  }
}

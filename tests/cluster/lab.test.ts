import { execFile, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import {
  ECHO_IMAGE,
  echoArchive,
  isAlive,
  missingForBuiltCluster,
  openBuiltCluster,
  readRecords,
  removeLeftovers,
  type TestCluster,
} from '@slipway/testing/cluster';
import { describeUnless } from '@slipway/testing/jest';

const run = promisify(execFile);
/** Longest until a pod is as wanted, on a machine that does other things beside. Milliseconds. */
const POD_MS = 60_000;

const missing = await missingForBuiltCluster();

interface Pod {
  readonly metadata: { readonly uid: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly ready: boolean }[];
  };
}

function echoPod(name: string, node: 'real' | 'kwok'): string {
  const place =
    node === 'real'
      ? { nodeSelector: { 'slipway.dev/real': 'true' } }
      : { nodeSelector: { type: 'kwok' }, tolerations: [{ key: 'kwok.x-k8s.io/node', operator: 'Exists' }] };
  const container = { name: 'echo', image: ECHO_IMAGE, imagePullPolicy: 'Never' };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      ...place,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      containers: [container],
    },
  });
}

async function podOf(cluster: TestCluster, name: string): Promise<Pod> {
  return JSON.parse(await cluster.kubectl(['get', 'pod', name, '-o', 'json'])) as Pod;
}

async function readyPod(cluster: TestCluster, name: string): Promise<Pod & { readonly address: string }> {
  return until(
    `the pod ${name} is ready`,
    async () => {
      const pod = await podOf(cluster, name);
      const ready = pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
      return ready && pod.status.podIP !== undefined ? { ...pod, address: pod.status.podIP } : null;
    },
    POD_MS,
  );
}

async function textAt(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}

/** Processes, but for this one, whose command holds the word. */
function processesWith(word: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes(word) && !file.startsWith(`/proc/${process.pid}/`);
    } catch {
      return false;
    }
  });
}

/** Everything on this machine that bears the cluster's mark: processes, mounts, cgroups, its folder. */
function tracesOf(cluster: { readonly id: string }): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .filter((line) => line.includes(cluster.id));
  return [...processesWith(`/run/${cluster.id}`), ...mounts, ...globSync(`/sys/fs/cgroup/{,*/}slipway-${cluster.id}`)];
}

async function addressesAndRoutes(): Promise<string> {
  return (await run('ip', ['-br', 'address'])).stdout + (await run('ip', ['route'])).stdout;
}

describeUnless(missing)('a test cluster', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await openBuiltCluster({ audit: true, kwokNodes: 2 });
    await cluster.importImage(await echoArchive());
  });
  afterAll(() => cluster?.close());

  it('runs a pod on the real node, reached at its own address, and the pod reaches this machine', async () => {
    await cluster.kubectl(['apply', '-f', '-'], echoPod('real', 'real'));
    const { address, status } = await readyPod(cluster, 'real');
    expect(status.phase).toBe('Running');
    expect(await until('the pod answers', () => textAt(`http://${address}:8080/`))).toBe(`real at ${address}:8080\n`);

    const server = http.createServer((request, response) => response.end(`seen from ${request.socket.remoteAddress}`));
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as { port: number };
    const url = encodeURIComponent(`http://${cluster.hostAddress}:${port}/`);
    expect(await textAt(`http://${address}:8080/fetch?url=${url}`)).toContain('seen from');
    server.close();
  });

  it('lets a pod reach nothing beyond this machine', async () => {
    const { address } = await readyPod(cluster, 'real');
    const answer = await fetch(`http://${address}:8080/fetch?url=${encodeURIComponent('http://169.254.169.254/')}`);
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringMatching(/unreachable|no route/)]);
  });

  it('makes pods ready on fake nodes, and one process inside answers for every one of them', async () => {
    const responder = cluster.spawnInside(path.join(path.dirname(await echoArchive()), 'bin/echo'), ['8000']);
    try {
      for (const name of ['fake-1', 'fake-2']) await cluster.kubectl(['apply', '-f', '-'], echoPod(name, 'kwok'));
      const addresses = [(await readyPod(cluster, 'fake-1')).address, (await readyPod(cluster, 'fake-2')).address];
      expect(new Set(addresses).size).toBe(2);
      for (const address of addresses)
        expect(await until('the responder answers', () => textAt(`http://${address}:8000/`))).toContain(
          `at ${address}:8000`,
        );
      // The ends of the range, too: 62 × 256 addresses.
      const [first = '', second = '', third = '0'] = cluster.kwokRange.split('.');
      for (const last of [`${first}.${second}.${Number(third)}.1`, `${first}.${second}.${Number(third) + 61}.255`])
        expect(await textAt(`http://${last}:8000/`)).toContain(last);
    } finally {
      responder.kill();
    }
  });

  it('kills a container behind the back of Kubernetes, which starts it again', async () => {
    const before = await readyPod(cluster, 'real');
    await cluster.killContainer(before.metadata.uid, 'echo');
    await until(
      'the container is started again',
      async () => (await podOf(cluster, 'real')).status.containerStatuses?.[0]?.restartCount === 1,
      POD_MS,
    );
    await readyPod(cluster, 'real');
    await expect(cluster.killContainer(before.metadata.uid, 'nobody')).rejects.toThrow(/no container nobody/);
  });

  it('notes every write and no read', async () => {
    await cluster.kubectl(['create', 'configmap', 'marked']);
    await cluster.kubectl(['get', 'configmap', 'marked']);
    const verbs = await until('the write is noted', async () => {
      const lines = (await readFile(cluster.auditLog as string, 'utf8'))
        .split('\n')
        .filter((line) => line.includes('/configmaps'));
      const ours = lines
        .map((line) => JSON.parse(line) as { verb: string; objectRef?: { name?: string } })
        .filter((event) => event.objectRef?.name === 'marked');
      return ours.length > 0 ? ours.map((event) => event.verb) : null;
    });
    expect(verbs).toEqual(['create']);
  });

  it('is without API server while it is stopped; what was there before is there after, and pods ran on', async () => {
    const { address } = await readyPod(cluster, 'real');
    await cluster.apiServer.stop();
    await expect(cluster.kubectl(['get', 'nodes'])).rejects.toThrow(/refused/);
    expect(await textAt(`http://${address}:8080/`)).toContain('real');
    await cluster.apiServer.start();
    expect((await readyPod(cluster, 'real')).status.containerStatuses?.[0]?.restartCount).toBe(1);
    expect(await cluster.kubectl(['get', 'configmap', 'marked', '-o', 'name'])).toBe('configmap/marked\n');
  });

  it('gives no answer while the API server is paused, and goes on when it is resumed', async () => {
    await cluster.apiServer.pause();
    await expect(cluster.kubectl(['get', 'nodes', '--request-timeout=2s'])).rejects.toThrow(/[Tt]imeout|deadline/);
    await cluster.apiServer.resume();
    expect(await cluster.kubectl(['get', 'nodes', '-o', 'name'])).toContain('node/real-0');
  });

  it('says what each of its programs has used', () => {
    const names = cluster.usage().map(({ component }) => component);
    expect(names).toEqual(
      expect.arrayContaining([
        'etcd',
        'kube-apiserver',
        'kube-controller-manager',
        'kube-scheduler',
        'kwok',
        'containerd',
        'kubelet',
      ]),
    );
    for (const { cpuSeconds, rssBytes } of cluster.usage())
      expect([cpuSeconds > 0, rssBytes > 10_000_000]).toEqual([true, true]);
  });

  it('stands beside another one; a stopped kubelet makes only its own node NotReady, and closing one leaves nothing of it and all of the other', async () => {
    const other = await openBuiltCluster({ nodeGraceSeconds: 8 });
    const [mine, theirs] = (await readRecords())
      .filter(({ name }) => name === cluster.name || name === other.name)
      .sort((a) => (a.name === cluster.name ? -1 : 1));
    const link = other.hostAddress.replace(/\d+$/, '');
    if (mine === undefined || theirs === undefined) throw new Error('a running cluster has no record');
    try {
      await other.importImage(await echoArchive());
      await other.kubectl(['apply', '-f', '-'], echoPod('real', 'real'));
      const [here, there] = [await readyPod(cluster, 'real'), await readyPod(other, 'real')];
      expect(here.address).not.toBe(there.address);
      await until(
        'both pods answer',
        async () =>
          (await textAt(`http://${here.address}:8080/`)) !== '' &&
          (await textAt(`http://${there.address}:8080/`)) !== '',
      );
      const readiness = (which: TestCluster): Promise<string> =>
        which.kubectl(['get', 'node', 'real-0', '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']);
      await other.kubelet.stop();
      await until('the node is NotReady', async () => (await readiness(other)) === 'Unknown', POD_MS);
      expect(await readiness(cluster)).toBe('True');
      await other.kubelet.start();
      expect(await readiness(other)).toBe('True');
      expect(tracesOf(theirs).length).toBeGreaterThan(5);
      expect(await addressesAndRoutes()).toContain(link);
    } finally {
      await other.close();
    }
    expect([tracesOf(theirs), existsSync(path.dirname(theirs.kubeconfig))]).toEqual([[], false]);
    expect(await addressesAndRoutes()).not.toContain(link);
    expect(tracesOf(mine).length).toBeGreaterThan(5);
    expect(await cluster.kubectl(['get', 'nodes', '-o', 'name'])).toContain('node/real-0');
    expect(await textAt(`http://${(await readyPod(cluster, 'real')).address}:8080/`)).toContain('real');
  });

  it('says why when a program of it does not start, and leaves nothing', async () => {
    await expect(openBuiltCluster({ name: 'stillborn', apiServerFlags: ['--no-such-flag'] })).rejects.toThrow(
      /kube-apiserver ended with 1.*no-such-flag/s,
    );
    expect((await readRecords()).map(({ name }) => name)).not.toContain('stillborn');
    expect(processesWith('--no-such-flag')).toEqual([]);
  });

  it('ends with the process that opened it, also by SIGKILL, and the next one removes its cgroups and files', async () => {
    const script = `import { openBuiltCluster } from '@slipway/testing/cluster';
      const cluster = await openBuiltCluster({ realNode: false, name: 'abandoned' }); console.log('up'); setInterval(() => {}, 1000);`;
    const opener = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    opener.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await until('the other process has its cluster', () => output.includes('up'), POD_MS);
    const record = (await readRecords()).find(({ name }) => name === 'abandoned');
    if (record === undefined) throw new Error('the cluster has no record');
    expect(await isAlive(record)).toBe(true);
    opener.kill('SIGKILL');
    await until('the kernel has ended its processes', async () =>
      tracesOf(record).every((trace) => trace.startsWith('/sys/fs/cgroup')),
    );
    expect(await isAlive(record)).toBe(false);
    expect(await removeLeftovers()).toContain('abandoned');
    expect([tracesOf(record), existsSync(path.dirname(record.kubeconfig))]).toEqual([[], false]);
  });
});

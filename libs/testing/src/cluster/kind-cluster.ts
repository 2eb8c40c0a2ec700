import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './find-program.js';
import { cannot, findRealNode, untouchable } from './given-cluster.js';
import { kubectl } from './kubectl.js';
import { processStart } from './lab/process-table.js';
import type { TestCluster } from './test-cluster.js';

const run = promisify(execFile);
/** Longest creation: its image may have to be pulled. Milliseconds. */
const CREATE_TIMEOUT_MS = 600_000;
const SHORT_TIMEOUT_MS = 120_000;
/** Longest answer of the Docker daemon to whether it is there. Milliseconds. */
const DAEMON_TIMEOUT_MS = 5_000;

/** Whether `kind`, `kubectl` and a Docker daemon that answers are there. */
export async function canRunKind(): Promise<boolean> {
  if (['kind', 'kubectl', 'docker'].some((program) => findProgram(program) === null)) return false;
  return run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: DAEMON_TIMEOUT_MS }).then(
    () => true,
    () => false,
  );
}

/**
 * A cluster in a container of its own. Its programs cannot be made to fail, and its pods are reached through the API
 * server only.
 */
export async function openKindCluster(): Promise<TestCluster> {
  await removeOrphans();
  const name = `slipway-${process.pid}-${processStart(process.pid) ?? 0}-${randomBytes(2).toString('hex')}`;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-kind-'));
  const kubeconfig = path.join(folder, 'kubeconfig');
  const close = async (): Promise<void> => {
    await run('kind', ['delete', 'cluster', '--name', name, '--kubeconfig', kubeconfig], { timeout: SHORT_TIMEOUT_MS });
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run('kind', ['create', 'cluster', '--name', name, '--kubeconfig', kubeconfig, '--wait', '120s'], {
      timeout: CREATE_TIMEOUT_MS,
    });
    const ask = (args: readonly string[], input?: string): Promise<string> =>
      kubectl('kubectl', kubeconfig, args, input);
    return {
      kind: 'kind',
      name,
      capabilities: { faults: false, podAddresses: false, kwok: false, importImage: true },
      kubeconfig,
      kubectlProgram: 'kubectl',
      hostAddress: await gateway(),
      realNode: await findRealNode(ask),
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
      importImage: async (archive) =>
        void (await run('kind', ['load', 'image-archive', path.resolve(archive), '--name', name], {
          timeout: CREATE_TIMEOUT_MS,
        })),
      addKwokNodes: async () => cannot('adding fake nodes'),
      killContainer: async () => cannot('killing a container'),
      spawnInside: () => cannot('entering its network'),
      usage: () => cannot('measuring its programs'),
      log: async () => cannot('reading the logs of its programs'),
      close,
    };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** This machine as containers of kind's network see it. */
async function gateway(): Promise<string> {
  const { stdout } = await run(
    'docker',
    ['network', 'inspect', 'kind', '--format', '{{range .IPAM.Config}}{{.Gateway}} {{end}}'],
    {
      timeout: SHORT_TIMEOUT_MS,
    },
  );
  const address = stdout.split(' ').find((word) => /^\d+(\.\d+){3}$/.test(word));
  if (address === undefined) throw new Error(`Docker's network "kind" has no IPv4 gateway: ${stdout}`);
  return address;
}

/** Deletes the clusters whose test process has died. */
async function removeOrphans(): Promise<void> {
  const { stdout } = await run('kind', ['get', 'clusters', '--quiet'], { timeout: SHORT_TIMEOUT_MS });
  for (const name of stdout.split('\n')) {
    const [, pid, start] = /^slipway-(\d+)-(\d+)-[0-9a-f]+$/.exec(name) ?? [];
    if (pid !== undefined && processStart(Number(pid)) !== start)
      await run('kind', ['delete', 'cluster', '--name', name], { timeout: SHORT_TIMEOUT_MS });
  }
}

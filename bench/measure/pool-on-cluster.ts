import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DirectoryStore, inCluster, KubernetesBackend } from '@slipway/sandbox/adapters/kubernetes';
import { createLogger } from '@slipway/telemetry';
import { type TestDatabase, until } from '@slipway/testing';
import { writeKubeconfig } from '../../tests/cluster/open-backend.ts';
import { openPlatformCluster } from '../../tests/cluster/platform-cluster.ts';
import type { PoolPlace } from '../pool-scale.ts';
import { startScript } from './service-process.ts';

/** A fake node takes 2,000 pods. */
const NODES = 8;
const NAMESPACE = 'slipway-sandboxes';
const AMOUNTS = { cpu: '50m', memory: '64Mi', ephemeralStorage: '64Mi' };
const TEMPLATE = {
  name: 'scale',
  image: `slipway.local/sandbox@sha256:${'0'.repeat(64)}`,
  resources: { requests: AMOUNTS, limits: AMOUNTS },
  agentServerResources: { requests: AMOUNTS, limits: AMOUNTS },
  nodeSelector: { type: 'kwok' },
  tolerations: [{ key: 'kwok.x-k8s.io/node', operator: 'Exists', effect: 'NoSchedule' }],
};

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** Pods of fake nodes, with a real API server, scheduler, policies and rights; one process answers for the agent-servers of all of them. */
export async function openClusterPlace(database: TestDatabase): Promise<PoolPlace> {
  const keys = generateKeyPairSync('ed25519');
  const publicKey = keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-pool-scale-'));
  const platform = await openPlatformCluster({ realNode: false });
  const { cluster } = platform;
  const close = async (): Promise<void> => {
    await platform.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await cluster.addKwokNodes(NODES);
    const responder = fileURLToPath(new URL('./kwok-responder.ts', import.meta.url));
    const child = cluster.spawnInside(process.execPath, [responder, '8000', cluster.kubeconfig, NAMESPACE, publicKey], { ...process.env });
    child.stderr?.on('data', (text: Buffer) => process.stderr.write(text));
    const kubeconfig = path.join(folder, 'runtime-api.kubeconfig');
    await writeKubeconfig(platform, 'runtime-api', kubeconfig);
    const { clusters, users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig;
    const server = new URL(clusters[0].cluster.server);
    await writeFile(path.join(folder, 'ca.crt'), Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64'));
    await writeFile(path.join(folder, 'token'), users[0].user.token, { mode: 0o600 });
    const store = path.join(folder, 'workspaces');
    return {
      name: `cluster (${cluster.kind})`,
      note: `fake nodes: pods get an address and become ready, no process runs in them; one responder holds a real latch for each. ${NODES} nodes.`,
      start: (target) =>
        startScript(
          './runtime-api-on-cluster.ts',
          JSON.stringify({
            databaseUrl: database.urls.runtime,
            apiKey: 'a service key of the bench, long enough',
            activationKey: keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
            host: server.hostname,
            port: server.port,
            folder,
            namespace: NAMESPACE,
            templates: [TEMPLATE],
            store,
            pools: [
              {
                poolId: 'scale-x1',
                image: 'scale',
                imageReference: null,
                runtimeClass: null,
                size: 1,
                bounds: { min: target, max: target },
                maxAgeSeconds: 86_400,
              },
            ],
          }),
        ),
      list: async () => {
        const began = performance.now();
        const backend = new KubernetesBackend({
          access: inCluster(server.hostname, server.port, folder),
          namespace: NAMESPACE,
          templates: [TEMPLATE],
          store: new DirectoryStore(store),
          activationKey: keys.privateKey,
          activationPublicKey: publicKey,
          nodeEnv: 'production',
          logLevel: 'warn',
          logger: createLogger('bench', 'error'),
        });
        try {
          // A list gives up before the first sync of a machine that is busy.
          await until('everything is read', async () => (await backend.list(AbortSignal.timeout(60_000))).length > 0, 120_000);
          return performance.now() - began;
        } finally {
          await backend.close();
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

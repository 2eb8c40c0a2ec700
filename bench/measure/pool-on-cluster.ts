import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DirectoryStore, inCluster, KubernetesBackend } from '@slipway/sandbox/adapters/kubernetes';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import { SANDBOXES } from '../../tests/cluster/contract-pod.ts';
import { IN_CONTAINER, type PoolPlace } from '../pool-scale.ts';
import { ClusterPlace } from './cluster-place.ts';
import { startLimitedScript } from './service-process.ts';

/** A fake node takes 2,000 pods. */
const NODES = 8;

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/**
 * Pods of fake nodes, with a real API server, scheduler, policies and rights; one process answers for the agent-servers
 * of all of them.
 */
export async function openClusterPlace(): Promise<PoolPlace> {
  const place = await ClusterPlace.open({ realNode: false, kwokNodes: NODES });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-pool-scale-'));
  // As in a pod: its service account's token and authority in a folder.
  const { clusters, users } = JSON.parse(await readFile(place.kubeconfig, 'utf8')) as Kubeconfig;
  const server = new URL(clusters[0].cluster.server);
  const account = path.join(folder, 'serviceaccount');
  await mkdir(account);
  await writeFile(
    path.join(account, 'ca.crt'),
    Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64'),
  );
  await writeFile(path.join(account, 'token'), users[0].user.token, { mode: 0o600 });
  const { pools: _pools, ...template } = place.fakeTemplate('scale', 0);
  const environment = place.environment([]);
  const store = path.join(folder, 'workspaces');
  return {
    name: `cluster (${place.cluster.kind})`,
    note: `fake nodes: pods get an address and become ready, no process runs in them; one process holds a real latch for each. ${NODES} nodes. Creation is bounded by the backend's budget.`,
    databaseUrl: place.database.ownerUrl,
    apiKey: place.apiKey,
    start: (target) =>
      startLimitedScript(
        IN_CONTAINER,
        './runtime-api-on-cluster.ts',
        JSON.stringify({
          databaseUrl: place.database.urls.runtime,
          apiKey: place.apiKey,
          activationKey: environment['ACTIVATION_PRIVATE_KEY'],
          host: server.hostname,
          port: server.port,
          folder: account,
          namespace: SANDBOXES,
          templates: [template],
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
      const keys = generateKeyPairSync('ed25519');
      const backend = new KubernetesBackend({
        access: inCluster(server.hostname, server.port, account),
        namespace: SANDBOXES,
        templates: [template],
        store: new DirectoryStore(store),
        activationKey: keys.privateKey,
        activationPublicKey: keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
        nodeEnv: 'production',
        logLevel: 'warn',
        logger: createLogger('bench', 'error'),
      });
      try {
        // A list gives up before the first sync of a machine that is busy.
        await until(
          'everything is read',
          async () => (await backend.list(AbortSignal.timeout(60_000))).length > 0,
          120_000,
        );
        return performance.now() - began;
      } finally {
        await backend.close();
      }
    },
    close: async () => {
      await place.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  DirectoryStore,
  fromKubeconfig,
  KubernetesBackend,
  type KubernetesBackendConfig,
} from '@slipway/sandbox/adapters/kubernetes';
import { createLogger } from '@slipway/telemetry';
import type { TestClusterOptions } from '@slipway/testing/cluster';
import { buildSandboxImage } from '../../deploy/images/sandbox-image.ts';
import { SANDBOXES } from './contract-pod.ts';
import { openPlatformCluster, type PlatformCluster } from './platform-cluster.ts';

/** A template whose pods start on the test cluster's real node. */
export interface TestTemplate {
  readonly name: string;
  readonly image: string;
  readonly [more: string]: unknown;
}

/** A cluster with the platform's manifests and the real sandbox image, and runtime-api's own rights on it. */
export interface BackendCluster {
  readonly platform: PlatformCluster;
  /** Of runtime-api's service account. */
  readonly kubeconfig: string;
  /** The template `any`, which starts. */
  readonly template: TestTemplate;
  readonly keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  open(options?: Partial<KubernetesBackendConfig>): Promise<KubernetesBackend>;
  close(): Promise<void>;
}

export const publicText = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).toString('base64');

export async function openBackendCluster(options: TestClusterOptions = {}): Promise<BackendCluster> {
  const platform = await openPlatformCluster(options);
  const { cluster } = platform;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-kubernetes-'));
  const opened: KubernetesBackend[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((backend) => backend.close()));
    await platform.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const image = await buildSandboxImage({ signal: AbortSignal.timeout(600_000) });
    await cluster.importImage(image.archive);
    const kubeconfig = path.join(folder, 'runtime-api.kubeconfig');
    await writeKubeconfig(platform, 'runtime-api', kubeconfig);
    const amounts = { cpu: '50m', memory: '128Mi', ephemeralStorage: '64Mi' };
    const resources = { requests: amounts, limits: { cpu: '2', memory: '512Mi', ephemeralStorage: '1Gi' } };
    const template = {
      name: 'any',
      image: image.name,
      imagePullPolicy: 'Never',
      resources,
      nodeSelector: { 'kubernetes.io/hostname': cluster.realNode },
    };
    const keys = generateKeyPairSync('ed25519');
    return {
      platform,
      kubeconfig,
      template,
      keys,
      open: async (options = {}) => {
        const backend = new KubernetesBackend({
          access: await fromKubeconfig(kubeconfig),
          namespace: SANDBOXES,
          templates: [template],
          store: new DirectoryStore(path.join(folder, 'store')),
          activationKey: keys.privateKey,
          activationPublicKey: publicText(keys.publicKey),
          nodeEnv: 'production',
          logLevel: 'info',
          logger: createLogger('test', 'error'),
          ...options,
        });
        opened.push(backend);
        return backend;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A kubeconfig of a service account in the platform's namespace. */
export async function writeKubeconfig({ cluster }: PlatformCluster, account: string, file: string): Promise<void> {
  const config = JSON.parse(await cluster.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json']));
  const token = (await cluster.kubectl(['-n', 'slipway', 'create', 'token', account, '--duration', '1h'])).trim();
  await writeFile(
    file,
    JSON.stringify({ ...config, users: config.users.map(({ name }: { name: string }) => ({ name, user: { token } })) }),
    { mode: 0o600 },
  );
}

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import type { TestCluster, TestClusterOptions } from '@slipway/testing/cluster';
import pg from 'pg';
import { buildSandboxImage } from '../../deploy/images/sandbox-image.ts';
import { SANDBOXES } from '../../tests/cluster/contract-pod.ts';
import { writeKubeconfig } from '../../tests/cluster/open-backend.ts';
import { openPlatformCluster, type PlatformCluster } from '../../tests/cluster/platform-cluster.ts';
import type { PodFaults, Receipt } from './cluster-fake-pods.ts';

export interface ClusterPlaceOptions extends TestClusterOptions {
  /** Whether the sandbox image is built and brought to the real node [false]. */
  readonly image?: boolean;
}

/** A template as SANDBOX_TEMPLATES has it. */
export interface Template {
  readonly name: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly pools: { readonly 1: { readonly min: number; readonly max: number } };
  readonly [more: string]: unknown;
}

const CONTROL_PORT = 8099;
const FAKE_AMOUNTS = { cpu: '50m', memory: '64Mi', ephemeralStorage: '64Mi' };
const REAL_AMOUNTS = { cpu: '50m', memory: '128Mi', ephemeralStorage: '64Mi' };

/**
 * A cluster with the platform's manifests, fake pods whose agent-servers answer, a database, and the environment of a
 * runtime-api on them: its own rights, no more.
 */
export class ClusterPlace {
  readonly apiKey = randomBytes(24).toString('base64url');
  /** Of runtime-api's service account. */
  readonly kubeconfig: string;
  private readonly keys = generateKeyPairSync('ed25519');
  private readonly encryptionKey = randomBytes(32).toString('hex');
  private looksAfterFakePods = false;

  readonly platform: PlatformCluster;
  readonly database: TestDatabase;
  /** May read and write everything. */
  readonly owner: pg.Client;
  private readonly folder: string;
  private readonly image: string | null;

  private constructor(
    platform: PlatformCluster,
    database: TestDatabase,
    owner: pg.Client,
    folder: string,
    image: string | null,
  ) {
    this.platform = platform;
    this.database = database;
    this.owner = owner;
    this.folder = folder;
    this.image = image;
    this.kubeconfig = path.join(folder, 'runtime-api.kubeconfig');
  }

  static async open(options: ClusterPlaceOptions = {}): Promise<ClusterPlace> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-cluster-place-'));
    const platform = await openPlatformCluster(options);
    try {
      const image = options.image === true ? await importImage(platform.cluster) : null;
      const database = await createTestDatabase();
      const owner = new pg.Client({ connectionString: database.ownerUrl });
      await owner.connect();
      const place = new ClusterPlace(platform, database, owner, folder, image);
      await writeKubeconfig(platform, 'runtime-api', place.kubeconfig);
      if ((options.kwokNodes ?? 0) > 0) await place.startFakePods();
      return place;
    } catch (error) {
      await platform.close();
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get hasFakePods(): boolean {
    return this.looksAfterFakePods;
  }

  get cluster(): TestCluster {
    return this.platform.cluster;
  }

  /** Blank sandboxes of this template are kept between `min` and `max`, on fake nodes. */
  fakeTemplate(name: string, min: number, max = min, more: Readonly<Record<string, unknown>> = {}): Template {
    return {
      name,
      image: `slipway.local/sandbox@sha256:${'0'.repeat(64)}`,
      resources: { requests: FAKE_AMOUNTS, limits: FAKE_AMOUNTS },
      agentServerResources: { requests: FAKE_AMOUNTS, limits: FAKE_AMOUNTS },
      nodeSelector: { type: 'kwok' },
      tolerations: [{ key: 'kwok.x-k8s.io/node', operator: 'Exists', effect: 'NoSchedule' }],
      pools: { 1: { min, max } },
      ...more,
    };
  }

  /** The same on the real node, with the image of this checkout. */
  realTemplate(name: string, min: number, max = min, more: Readonly<Record<string, unknown>> = {}): Template {
    const limits = { cpu: '2', memory: '512Mi', ephemeralStorage: '1Gi' };
    return {
      name,
      image: this.image ?? '',
      imagePullPolicy: 'Never',
      resources: { requests: REAL_AMOUNTS, limits },
      agentServerResources: { requests: REAL_AMOUNTS, limits },
      nodeSelector: { 'kubernetes.io/hostname': this.cluster.realNode },
      pools: { 1: { min, max } },
      ...more,
    };
  }

  /** Environment of a runtime-api on this cluster. */
  environment(templates: readonly Template[], kubeconfig = this.kubeconfig): Record<string, string> {
    return {
      DATABASE_URL: this.database.urls.runtime,
      RUNTIME_API_KEY: this.apiKey,
      ENCRYPTION_KEY: this.encryptionKey,
      ACTIVATION_PRIVATE_KEY: this.keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
      NODE_ENV: 'production',
      SANDBOX_BACKEND: 'kubernetes',
      SANDBOX_NAMESPACE: SANDBOXES,
      SANDBOX_TEMPLATES: JSON.stringify(templates),
      WORKSPACE_STORE: `file://${path.join(this.folder, 'store')}`,
      KUBECONFIG: kubeconfig,
      ORG_SANDBOX_LIMIT: '100000',
    };
  }

  /** What every fake pod has seen, those that are gone too. */
  async receipts(): Promise<Receipt[]> {
    return (await (await this.control('receipts')).json()) as Receipt[];
  }

  /** From now on, for pods that are new. */
  async setFaults(faults: PodFaults): Promise<void> {
    await this.control('faults', { method: 'POST', body: JSON.stringify(faults) });
  }

  async close(): Promise<void> {
    await this.platform.close();
    await this.owner.end();
    await this.database.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  private async startFakePods(): Promise<void> {
    const publicKey = this.keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const kubeconfig = path.join(this.folder, 'admin.kubeconfig');
    await writeFile(
      kubeconfig,
      await this.cluster.kubectl(['config', 'view', '--raw', '--flatten', '--minify', '-o', 'json']),
      { mode: 0o600 },
    );
    const script = fileURLToPath(new URL('./cluster-fake-pods.ts', import.meta.url));
    const argv = [
      '--disable-warning=ExperimentalWarning',
      script,
      kubeconfig,
      SANDBOXES,
      publicKey,
      String(CONTROL_PORT),
    ];
    const child = this.cluster.spawnInside(process.execPath, argv);
    let said = '';
    child.stderr?.on('data', (part: Buffer) => {
      said = (said + part.toString()).slice(-4_000);
    });
    await until('the fake pods are looked after', async () => (await this.control('ready')).ok, 30_000).catch(
      (error: unknown) => {
        throw new Error(`the fake pods' process said: ${said}`, { cause: error });
      },
    );
    this.looksAfterFakePods = true;
  }

  /** Any address of a fake pod leads to the one process. */
  private control(what: string, init: RequestInit = {}): Promise<Response> {
    const address = this.cluster.kwokRange.replace(/\.0\/\d+$/, '.1');
    return fetch(`http://${address}:${CONTROL_PORT}/${what}`, { ...init, signal: AbortSignal.timeout(10_000) });
  }
}

async function importImage(cluster: TestCluster): Promise<string> {
  const image = await buildSandboxImage({ signal: AbortSignal.timeout(600_000) });
  await cluster.importImage(image.archive);
  return image.name;
}

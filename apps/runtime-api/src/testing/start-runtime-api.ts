import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { FarmBackend, SandboxFarm } from '@slipway/sandbox/testing';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { createRuntimeApi, type RuntimeApi, type RuntimeApiOptions } from '../app.js';
import type { PoolSpec } from '../pool/pool-context.js';

/** What tests read out of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: an answer of unknown shape is what these tests read.
type Json = any;

export const TEST_API_KEY = 'test-runtime-api-key-0123456789abcdef';

export function testPool(target: number): PoolSpec {
  return {
    poolId: 'default',
    image: 'slipway-sandbox',
    imageReference: null,
    runtimeClass: null,
    size: 1,
    bounds: { min: target, max: target },
    maxAgeSeconds: 3_600,
  };
}

export interface TestRuntimeApi {
  readonly url: string;
  readonly database: TestDatabase;
  readonly farm: SandboxFarm;
  readonly options: RuntimeApiOptions;
  /** One request with the service key. */
  call(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Json; headers: Headers }>;
  /** What Prometheus reads of it. */
  metrics(): Promise<string>;
  /** Its replica leads no more; it answers on. */
  stopPool(): Promise<void>;
  close(): Promise<void>;
}

/**
 * runtime-api on a real Postgres, over a farm of sandboxes in which nothing runs.
 * @param through what stands between it and its database: its URL for the one that it is given.
 */
export async function startTestRuntimeApi(
  change: Partial<RuntimeApiOptions> = {},
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<TestRuntimeApi> {
  const database = await createTestDatabase();
  const keys = generateKeyPairSync('ed25519');
  const farm = await new SandboxFarm(keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')).start();
  const options: RuntimeApiOptions = {
    databaseUrl: await through(database.urls.runtime),
    apiKey: TEST_API_KEY,
    encryptionKey: randomBytes(32).toString('hex'),
    activationKey: keys.privateKey,
    backend: new FarmBackend(farm.url, 'farm', farm),
    pools: [testPool(2)],
    orgSandboxLimit: 10,
    replicaId: 'test',
    logger: createLogger('runtime-api', 'silent'),
    metrics: { host: '127.0.0.1', port: 0 },
    ...change,
  };
  const runtimeApi: RuntimeApi = await createRuntimeApi(options);
  await runtimeApi.app.listen(0, '127.0.0.1');
  runtimeApi.pool.start();
  const url = await runtimeApi.app.getUrl();
  return {
    url,
    database,
    farm,
    options,
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          'x-api-key': TEST_API_KEY,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
      };
    },
    metrics: async () => (await fetch(`${runtimeApi.metricsUrl()}/metrics`)).text(),
    stopPool: () => runtimeApi.pool.close(),
    close: async () => {
      await runtimeApi.close();
      await farm.close();
      await database.close();
    },
  };
}

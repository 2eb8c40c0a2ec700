import { generateKeyPairSync } from 'node:crypto';
import { createTestDatabase } from '@slipway/testing';
import pg from 'pg';
import { Pool } from 'undici';
import { commitFloor, loopbackFloor, pacedFloor } from './floor.ts';
import { QUICK } from './quick.ts';
import { type ServiceProcess, startScript, startScriptWith } from './service-process.ts';

const API_KEY = 'a service key of the bench, long enough';

/** One runtime-api with a pool of blank sandboxes that cost nothing, and its callers. */
export interface ClaimsOnFarm {
  readonly api: ServiceProcess;
  readonly owner: pg.Client;
  /** All of the pool is ready. */
  isFull(): Promise<boolean>;
  /**
   * A whole `POST /start` over one of the callers' connections. @returns milliseconds. @throws Error when the sandbox
   * is not active in the answer.
   */
  claim(session: string): Promise<number>;
  /** Opens all connections of the callers. */
  connect(): Promise<void>;
  /** One synchronous commit and two loopback calls, now. Milliseconds. */
  floor(): Promise<number>;
  /** The same at a pace, as `pacedFloor`. Milliseconds. */
  pacedFloor(perSecond: number): Promise<number>;
  stop(): Promise<void>;
}

/** How runtime-api is started: a bundle of `runtime-api-on-farm.ts` in place of it, with variables. */
export interface ApiStart {
  readonly entry?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * @param connections of the callers; each has one claim under way at a time. @throws Error on a server of Postgres that
 * does not wait for its disk.
 */
export async function startClaimsOnFarm(
  stock: number,
  connections: number,
  { entry = './runtime-api-on-farm.ts', env = {} }: ApiStart = {},
): Promise<ClaimsOnFarm> {
  const database = await createTestDatabase();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const { rows: settings } = await owner.query<{ name: string }>(
    `SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting <> 'on'`,
  );
  if (settings.length > 0 && !QUICK)
    throw new Error(
      `${settings.map((row) => row.name).join(' and ')} must be on; without TEST_POSTGRES_URL the bench starts such a server`,
    );
  const keys = generateKeyPairSync('ed25519');
  const farm = await startScript(
    './sandbox-farm.ts',
    keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  );
  const given = {
    databaseUrl: database.urls.runtime,
    apiKey: API_KEY,
    activationKey: keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    farmUrl: farm.url,
    pools: [
      {
        poolId: 'default',
        image: 'slipway-sandbox',
        imageReference: null,
        runtimeClass: null,
        size: 1,
        bounds: { min: stock, max: stock },
        maxAgeSeconds: 3_600,
      },
    ],
  };
  const api = await startScriptWith({ env }, entry, JSON.stringify(given));
  const callers = new Pool(api.url, { connections });
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
  return {
    api,
    owner,
    // Asked in the database: an answer of /metrics would be work of the service, too.
    isFull: async () => {
      const { rows } = await owner.query<{ ready: string }>(
        `SELECT count(*) AS ready FROM runtime.slot WHERE state = 'ready'`,
      );
      return Number(rows[0]?.ready) >= stock;
    },
    claim: async (session) => {
      const body = JSON.stringify({ session_id: session, environment: { SLIPWAY: '1' } });
      const began = performance.now();
      const answer = await callers.request({ path: '/start', method: 'POST', headers, body });
      const text = await answer.body.text();
      const elapsed = performance.now() - began;
      if (answer.statusCode !== 200 || !text.includes('"pod_status":"ready"'))
        throw new Error(`a claim was answered ${answer.statusCode}: ${text}`);
      return elapsed;
    },
    connect: async () => {
      await Promise.all(
        Array.from({ length: connections }, async () =>
          (await callers.request({ path: '/alive', method: 'GET' })).body.dump(),
        ),
      );
    },
    floor: async () => (await commitFloor(database.ownerUrl)) + 2 * (await loopbackFloor()),
    pacedFloor: (perSecond) => pacedFloor(database.ownerUrl, perSecond),
    stop: async () => {
      await callers.close();
      await api.stop();
      await farm.stop();
      await owner.end();
      await database.close();
    },
  };
}

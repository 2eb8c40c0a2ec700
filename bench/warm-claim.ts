// POST /start → activated sandbox, HTTP to HTTP, on a real Postgres with synchronous commit; floor: one such commit + two loopback calls. Sandboxes are a responder that costs nothing.
import { generateKeyPairSync } from 'node:crypto';
import { createTestDatabase, until } from '@slipway/testing';
import { Pool } from 'undici';
import { commitFloor, loopbackFloor } from './measure/floor.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import type { Report } from './measure/report.ts';
import { startScript } from './measure/service-process.ts';

/** Warm sandboxes at the start of each round. */
const STOCK = 350;
/** Claims of one round: the stock is never used up, so none of them waits for a sandbox to start. */
const A_ROUND = 300;
const ROUNDS = 5;
const API_KEY = 'a service key of the bench, long enough';

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const keys = generateKeyPairSync('ed25519');
  const farm = await startScript('./sandbox-farm.ts', keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'));
  const settings = {
    databaseUrl: database.urls.runtime,
    apiKey: API_KEY,
    activationKey: keys.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    farmUrl: farm.url,
    poolTarget: STOCK,
  };
  const api = await startScript('./runtime-api-on-farm.ts', JSON.stringify(settings));
  const client = new Pool(api.url, { connections: 1 });
  const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
  const ready = async (): Promise<number> => {
    const { body } = await client.request({ path: '/metrics', method: 'GET' });
    return Number(/pool_ready_slots\{[^}]*\} (\d+)/.exec(await body.text())?.[1] ?? 0);
  };
  report.note(
    'each claim is a whole POST /start: quota, choice, binding commit, signed activation call, mark. The sandboxes answer that call from one process and run nothing, so that 1,500 are possible; the pool refills meanwhile.',
  );
  try {
    const times: number[] = [];
    let cpu = 0;
    for (let round = 0; round <= ROUNDS; round += 1) {
      await until('the pool is full', async () => (await ready()) === STOCK, 120_000);
      const before = await cpuMs(api.pid);
      for (let index = 0; index < A_ROUND; index += 1) {
        const body = JSON.stringify({ session_id: `session-${round}-${index}`, environment: { SLIPWAY: '1' } });
        const began = performance.now();
        const answer = await client.request({ path: '/start', method: 'POST', headers, body });
        const text = await answer.body.text();
        const elapsed = performance.now() - began;
        if (answer.statusCode !== 200 || !text.includes('"pod_status":"ready"')) throw new Error(`a claim was answered ${answer.statusCode}: ${text}`);
        // The first round pays for what is compiled and connected once.
        if (round > 0) times.push(elapsed);
      }
      if (round > 0) cpu += (await cpuMs(api.pid)) - before;
    }
    const floor = (await commitFloor(database.ownerUrl)) + 2 * (await loopbackFloor());
    report.figure({ figure: 'p50', value: percentile(times, 0.5), unit: 'ms', floor, n: times.length });
    report.figure({ figure: 'p99', value: percentile(times, 0.99), unit: 'ms', floor, n: times.length });
    report.figure({ figure: 'cpu-per-claim', value: cpu / times.length, unit: 'ms', n: times.length });
  } finally {
    await client.close();
    await api.stop();
    await farm.stop();
    await database.close();
  }
}

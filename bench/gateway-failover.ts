// What it costs a call that the first place of its model fails at once with 500 and the second answers, beside a call
// whose only place answers.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createTestDatabase } from '@slipway/testing';
import { Pool } from 'undici';
import { modelRequest } from './measure/model-gateways.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript, startService } from './measure/service-process.ts';

const MASTER_KEY = 'bench-master-key-0123456789-0123456789';
/** Each is asked twice: after three failures its first place would be left alone. */
const MODELS = quick(400, 10);
/** Calls of the good model before each that fails over: a fifth of all calls may be tried again. */
const BETWEEN = 6;
/** Calls until the code is compiled. */
const WARMUP = quick(1_500, 20);

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-failover-'));
  const good = await startScript('./stub-upstream.ts', '0');
  const failing = createServer((request, response) => {
    request.resume();
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"down"}}');
  });
  await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
  const place = (url: string, weight: number) => ({ provider: 'openai', baseUrl: url, model: 'gpt-4o', weight });
  const dead = place(`http://127.0.0.1:${(failing.address() as AddressInfo).port}/v1`, 1_000);
  const alive = place(`${good.url}/v1`, 0.001);
  const models = [
    { name: 'good', deployments: [alive] },
    ...Array.from({ length: MODELS }, (_, index) => ({ name: `m${index}`, deployments: [dead, alive] })),
  ];
  const file = path.join(folder, 'models.json');
  await writeFile(file, JSON.stringify({ models }));
  const gateway = await startService('llm-gateway', {
    DATABASE_URL: database.urls.gateway,
    LLM_GATEWAY_MASTER_KEY: MASTER_KEY,
    LLM_MODELS_FILE: file,
    LOG_LEVEL: 'info',
  });
  const pool = new Pool(gateway.url, { connections: 1 });
  const post = async (route: string, key: string, body: string): Promise<{ ms: number; text: string }> => {
    const began = performance.now();
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const response = await pool.request({ path: route, method: 'POST', headers, body });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text.slice(0, 500)}`);
    return { ms: performance.now() - began, text };
  };
  try {
    const { key } = JSON.parse((await post('/key/generate', MASTER_KEY, '{}')).text) as { key: string };
    const call = async (model: string): Promise<number> =>
      (await post('/v1/chat/completions', key, modelRequest(false).replace('gpt-4o', model))).ms;
    for (let index = 0; index < WARMUP; index += 1) await call('good');
    const [plain, over]: [number[], number[]] = [[], []];
    for (let round = 0; round < 2; round += 1)
      for (let index = 0; index < MODELS; index += 1) {
        for (let between = 0; between < BETWEEN; between += 1) plain.push(await call('good'));
        over.push(await call(`m${index}`));
      }
    for (const p of [0.5, 0.99]) {
      const [value, floor] = [percentile(over, p), percentile(plain, p)];
      report.figure({
        figure: `added-p${p * 100}`,
        value: (value - floor) * 1_000,
        unit: 'us',
        floor: floor * 1_000,
        n: over.length,
      });
    }
  } finally {
    await pool.close();
    await gateway.stop();
    await good.stop();
    failing.closeAllConnections();
    failing.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

// What llm-gateway keeps of the calls that it has answered: its heap after garbage collection, 12,000 mixed calls after
// its start and 60,000 later. SLIPWAY_HEAP_CALLS [60000].
import { once } from 'node:events';
import { until } from '@slipway/testing';
import { Pool } from 'undici';
import { WebSocket } from 'ws';
import { type ModelWay, modelRequest, openModelGateways } from './measure/model-gateways.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const WARM_UP = quick(12_000, 100);
const CALLS = Number(process.env['SLIPWAY_HEAP_CALLS'] ?? quick('60000', '200'));
const AT_ONCE = 32;
/** One caller in twenty goes away in the middle of its answer. */
const LEAVES_EVERY = 20;
const BODIES = [
  modelRequest(false, 'x'.repeat(400)),
  modelRequest(true, 'x'.repeat(400)),
  modelRequest(true, 'x'.repeat(400)),
  modelRequest(false, 'x'.repeat(20_000)),
];

export default async function run(report: Report): Promise<void> {
  const ways = await openModelGateways(report, { env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } });
  const pool = new Pool(ways.gateway.url, { connections: AT_ONCE });
  try {
    const address = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(ways.output())?.[0];
    if (address === undefined)
      throw new Error(`llm-gateway did not say where it can be looked into:\n${ways.output()}`);
    const inspector = new WebSocket(address);
    await once(inspector, 'open');
    await load(pool, ways.gateway, WARM_UP);
    const before = await heapInUse(inspector);
    await load(pool, ways.gateway, CALLS);
    const after = await heapInUse(inspector);
    inspector.close();
    report.figure({ figure: 'heap-in-use', value: after / 2 ** 20, unit: 'MiB', n: 1 });
    report.figure({ figure: 'kept-of-a-call', value: (after - before) / CALLS, unit: 'B', n: CALLS });
    report.note('what V8 compiles meanwhile is in the heap too: about half a megabyte');
  } finally {
    await pool.destroy();
    await ways.close();
  }
}

async function load(pool: Pool, way: ModelWay, count: number): Promise<void> {
  let sent = 0;
  const caller = async (): Promise<void> => {
    while (sent < count) {
      const index = sent++;
      const answer = await pool.request({
        path: '/v1/chat/completions',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...way.headers },
        body: BODIES[index % BODIES.length] ?? '',
      });
      if (answer.statusCode !== 200)
        throw new Error(`${way.name} answered ${answer.statusCode}: ${await answer.body.text()}`);
      for await (const _ of answer.body) if (index % LEAVES_EVERY === 0) break;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
}

/**
 * Bytes after collections that free no more; what a batch of the ledger still holds is given the time to be written.
 */
async function heapInUse(inspector: WebSocket): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  await until('a heap that shrinks no more', async () => {
    await ask(inspector, 'HeapProfiler.collectGarbage');
    const { usedSize } = (await ask(inspector, 'Runtime.getHeapUsage')) as { usedSize: number };
    const settled = usedSize > least - 50_000;
    least = Math.min(least, usedSize);
    return settled;
  });
  return least;
}

let asked = 0;

function ask(inspector: WebSocket, method: string): Promise<unknown> {
  const id = ++asked;
  inspector.send(JSON.stringify({ id, method }));
  return new Promise((resolve) => {
    const read = (data: Buffer): void => {
      const message = JSON.parse(data.toString()) as { id?: number; result?: unknown };
      if (message.id !== id) return;
      inspector.off('message', read);
      resolve(message.result);
    };
    inspector.on('message', read);
  });
}

// What llm-gateway adds to a model call at concurrency 1, plain and streamed, beside what a bare undici relay adds.
import { randomUUID } from 'node:crypto';
import { createTestDatabase } from '@slipway/testing';
import { Pool } from 'undici';
import { percentile } from './measure/percentile.ts';
import type { Report } from './measure/report.ts';
import { startScript, startService } from './measure/service-process.ts';

const MASTER_KEY = 'bench-master-key-0123456789-0123456789';
const MODEL = 'gpt-4o';
const WARMUP = 300;
const PLAIN = 3_000;
const STREAMED = 400;
/** LiteLLM 1.105.3 on such a machine: added at concurrency 1, difference of medians; streamed is to the end of 20 chunks. Milliseconds. */
const LITELLM = { plain: 20.7, streamed: 52.2 };

type Way = 'direct' | 'relay' | 'gateway';

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const upstream = await startScript('./stub-upstream.ts');
  const relay = await startScript('./bare-relay.ts', upstream.url);
  const gateway = await startService('llm-gateway', {
    DATABASE_URL: database.urls.gateway,
    LLM_GATEWAY_MASTER_KEY: MASTER_KEY,
    LLM_BASE_URL: `${upstream.url}/v1`,
    LLM_API_KEY: 'sk-bench',
    LLM_MODEL: MODEL,
    // As it is shipped: one log line a call.
    LOG_LEVEL: 'info',
  });
  try {
    const key = await makeKey(gateway.url);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const pools: Record<Way, Pool> = {
      direct: new Pool(upstream.url, { connections: 1 }),
      relay: new Pool(relay.url, { connections: 1 }),
      gateway: new Pool(gateway.url, { connections: 1 }),
    };
    const call = async (way: Way, body: string): Promise<{ first: number; whole: number }> => {
      const began = performance.now();
      const response = await pools[way].request({ path: '/v1/chat/completions', method: 'POST', headers, body });
      let first = 0;
      for await (const _ of response.body) first ||= performance.now() - began;
      if (response.statusCode !== 200) throw new Error(`${way} answered ${response.statusCode}: ${gateway.output()}`);
      return { first, whole: performance.now() - began };
    };

    const plain = await alternate(PLAIN, (way) => call(way, request(false)));
    const added = (way: Way, p: number, part: 'first' | 'whole', of: typeof plain): number =>
      percentile(
        of[way].map((sample) => sample[part]),
        p,
      ) -
      percentile(
        of.direct.map((sample) => sample[part]),
        p,
      );
    for (const [name, p] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      report.figure({
        figure: name,
        value: added('gateway', p, 'whole', plain),
        unit: 'ms',
        floor: added('relay', p, 'whole', plain),
        n: PLAIN,
        ...(p === 0.5 ? { peer: LITELLM.plain } : {}),
      });
    }
    const streamed = await alternate(STREAMED, (way) => call(way, request(true)));
    for (const [name, p] of [
      ['stream-first-token-p50', 0.5],
      ['stream-first-token-p99', 0.99],
    ] as const) {
      report.figure({ figure: name, value: added('gateway', p, 'first', streamed), unit: 'ms', floor: added('relay', p, 'first', streamed), n: STREAMED });
    }
    report.figure({
      figure: 'stream-whole-p50',
      value: added('gateway', 0.5, 'whole', streamed),
      unit: 'ms',
      floor: added('relay', 0.5, 'whole', streamed),
      peer: LITELLM.streamed,
      n: STREAMED,
    });
    report.note(
      `direct p50 ${percentile(
        plain.direct.map((sample) => sample.whole),
        0.5,
      ).toFixed(3)} ms plain; must: p50 at most 1 ms added (design: 0.25 ms and twice the relay)`,
    );
    await Promise.all(Object.values(pools).map((pool) => pool.close()));
  } finally {
    await gateway.stop();
    await relay.stop();
    await upstream.stop();
    await database.close();
  }
}

/** The three ways in turn, so that what the machine does meanwhile falls on all of them. */
async function alternate<T>(n: number, once: (way: Way) => Promise<T>): Promise<Record<Way, T[]>> {
  const samples: Record<Way, T[]> = { direct: [], relay: [], gateway: [] };
  const ways = Object.keys(samples) as Way[];
  for (let index = -Math.min(WARMUP, n); index < n; index += 1) {
    for (const way of ways) {
      const sample = await once(way);
      if (index >= 0) samples[way].push(sample);
    }
  }
  return samples;
}

/** The body of floor.ts' round trip: about 0.45 kB. */
function request(stream: boolean): string {
  return JSON.stringify({
    model: MODEL,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content: 'x'.repeat(400) }],
  });
}

async function makeKey(url: string): Promise<string> {
  const response = await fetch(`${url}/key/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { org_id: 'org_bench', conversation_id: randomUUID() } }),
  });
  const { key } = (await response.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key: ${response.status}`);
  return key;
}

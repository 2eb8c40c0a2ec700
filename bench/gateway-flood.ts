// What ten thousand made-up keys a second leave of llm-gateway's throughput for the good ones, beside what they leave
// when they go elsewhere.
import { Pool } from 'undici';
import { type ModelWay, modelRequest, openModelGateways } from './measure/model-gateways.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { startScript } from './measure/service-process.ts';

const PER_SECOND = quick(10_000, 500);
const UNDER_WAY = 24;
const SECONDS = quick(8, 1);
const LATENCY_MS = 20;

export default async function run(report: Report): Promise<void> {
  const ways = await openModelGateways(report, { latencyMs: LATENCY_MS });
  try {
    const alone = await goodPerSecond(ways.gateway);
    // The flood itself takes a share of the same cores: what it takes when a relay is flooded is the machine's, not the
    // gateway's.
    const elsewhere = await during(ways.relay.url, () => goodPerSecond(ways.gateway));
    const flooded = await during(ways.gateway.url, () => goodPerSecond(ways.gateway));
    report.figure({
      figure: 'kept',
      value: (flooded.good / alone) * 100,
      unit: '%',
      floor: (elsewhere.good / alone) * 100,
      n: Math.round(flooded.good * SECONDS),
    });
    report.figure({
      figure: 'bad-answered',
      value: flooded.answered,
      unit: '1/s',
      n: Math.round(flooded.answered * SECONDS),
    });
    report.figure({ figure: 'bad-cpu', value: flooded.cpuUs, unit: 'us', n: Math.round(flooded.answered * SECONDS) });
    report.note(
      `${alone.toFixed(0)} good calls a second alone, ${elsewhere.good.toFixed(0)} while a relay is flooded (${elsewhere.answered.toFixed(0)} answers a second), ${flooded.good.toFixed(0)} while the gateway is; bad-cpu is the gateway's CPU in that time less what the good calls take alone, for a bad key`,
    );

    async function during(
      url: string,
      work: () => Promise<number>,
    ): Promise<{ good: number; answered: number; cpuUs: number }> {
      const flood = await startScript('./key-flood.ts', url, String(PER_SECOND));
      try {
        const counts = async (): Promise<{ answered: number; at: number; cpu: number }> => {
          const { answered } = (await (await fetch(flood.url)).json()) as { answered: number };
          return { answered, at: performance.now(), cpu: await cpuMs(ways.gateway.pid) };
        };
        const before = await counts();
        const good = await work();
        const after = await counts();
        const seconds = (after.at - before.at) / 1_000;
        const bad = after.answered - before.answered;
        const cpuOfGood = good * seconds * cpuOfOneMs;
        return {
          good,
          answered: bad / seconds,
          cpuUs: bad === 0 ? 0 : ((after.cpu - before.cpu - cpuOfGood) * 1_000) / bad,
        };
      } finally {
        await flood.stop();
      }
    }
  } finally {
    await ways.close();
  }
}

/** CPU of the gateway for one good call when nothing else is asked. Milliseconds. */
let cpuOfOneMs = 0;

async function goodPerSecond(way: ModelWay): Promise<number> {
  const pool = new Pool(way.url, { connections: UNDER_WAY });
  const [headers, body] = [{ 'content-type': 'application/json', ...way.headers }, modelRequest(false)];
  let [answered, counted] = [0, false];
  const end = performance.now() + (SECONDS + 1) * 1_000;
  try {
    const loops = Array.from({ length: UNDER_WAY }, async () => {
      while (performance.now() < end) {
        const answer = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
        const text = await answer.body.text();
        if (answer.statusCode !== 200) throw new Error(`a good key was answered ${answer.statusCode} ${text}`);
        if (counted) answered += 1;
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const before = await cpuMs(way.pid);
    counted = true;
    await Promise.all(loops);
    if (cpuOfOneMs === 0) cpuOfOneMs = ((await cpuMs(way.pid)) - before) / answered;
    return answered / SECONDS;
  } finally {
    await pool.close();
  }
}

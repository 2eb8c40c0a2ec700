// What llm-gateway holds of memory under a steady mixed load: idle, at its peak, and how it grows an hour, beside a
// bare relay. SLIPWAY_MEMORY_MINUTES [10], SLIPWAY_MEMORY_CALLS_PER_SECOND [40].
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { growthPerHour } from './measure/growth.ts';
import { type ModelWay, modelRequest, openModelGateways } from './measure/model-gateways.ts';
import { peakRssMiB, rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const MINUTES = Number(process.env['SLIPWAY_MEMORY_MINUTES'] ?? quick('10', '0.05'));
const PER_SECOND = Number(process.env['SLIPWAY_MEMORY_CALLS_PER_SECOND'] ?? '40');
/** Share of the time that is not counted for the growth: caches fill, and V8 finds the size of its heap. */
const WARM_UP = 0.3;
const SAMPLE_MS = quick(1_000, 100);

/** Of twenty calls: plain and streamed ones, long prompts, one of 400 kB, and a stream whose caller goes away. */
const MIX: ReadonlyArray<{
  readonly stream: boolean;
  readonly bytes: number;
  readonly leaves: boolean;
  readonly share: number;
}> = [
  { stream: false, bytes: 400, leaves: false, share: 8 },
  { stream: true, bytes: 400, leaves: false, share: 7 },
  { stream: true, bytes: 20_000, leaves: false, share: 3 },
  { stream: false, bytes: 400_000, leaves: false, share: 1 },
  { stream: true, bytes: 400, leaves: true, share: 1 },
];
const CALLS = MIX.flatMap((kind) =>
  Array.from({ length: kind.share }, () => ({ ...kind, body: modelRequest(kind.stream, 'x'.repeat(kind.bytes)) })),
);

interface Loaded {
  readonly idle: number;
  readonly peak: number;
  readonly growth: ReturnType<typeof growthPerHour>;
  readonly calls: number;
}

export default async function run(report: Report): Promise<void> {
  const ways = await openModelGateways(report);
  try {
    const [gateway, relay] = await Promise.all([load(ways.gateway), load(ways.relay)]);
    report.figure({ figure: 'rss-idle', value: gateway.idle, unit: 'MiB', floor: relay.idle, n: 1 });
    report.figure({ figure: 'rss-peak', value: gateway.peak, unit: 'MiB', floor: relay.peak, n: gateway.calls });
    report.figure({
      figure: 'growth-an-hour',
      value: gateway.growth.perHour,
      unit: 'MiB',
      floor: relay.growth.perHour,
      n: gateway.growth.samples,
    });
    report.note(
      `${MINUTES} minutes at ${PER_SECOND} calls a second through each, ${gateway.calls} through the gateway, all answered; growth by least squares after ${WARM_UP * 100} % of the time, ` +
        `give or take ${gateway.growth.error.toFixed(1)} MiB (relay: ${relay.growth.error.toFixed(1)}); held in the first and the last fifth of what is counted: ` +
        `${gateway.growth.first.toFixed(1)} and ${gateway.growth.last.toFixed(1)} MiB (relay: ${relay.growth.first.toFixed(1)} and ${relay.growth.last.toFixed(1)})`,
    );
  } finally {
    await ways.close();
  }
}

/** Calls by the clock, whether earlier ones have ended or not. */
async function load(way: ModelWay): Promise<Loaded> {
  const idle = await rssMiB(way.pid);
  const pool = new Pool(way.url, { connections: 64 });
  const [began, lasts] = [performance.now(), MINUTES * 60_000];
  const samples: Array<{ readonly at: number; readonly mib: number }> = [];
  const underWay = new Set<Promise<void>>();
  let failed: unknown = null;
  let calls = 0;
  let sampled = 0;
  try {
    while (performance.now() - began < lasts && failed === null) {
      const now = performance.now() - began;
      for (const due = Math.floor((now / 1_000) * PER_SECOND); calls < due; calls += 1) {
        const one = call(pool, way, calls).catch((error: unknown) => {
          failed ??= error;
        });
        underWay.add(one);
        void one.finally(() => underWay.delete(one));
      }
      if (now - sampled >= SAMPLE_MS) {
        sampled = now;
        if (now >= lasts * WARM_UP) samples.push({ at: now, mib: await rssMiB(way.pid) });
      }
      await wait(10);
    }
    await Promise.all(underWay);
    if (failed !== null) throw failed;
    return { idle, peak: await peakRssMiB(way.pid), growth: growthPerHour(samples), calls };
  } finally {
    await pool.destroy();
  }
}

async function call(pool: Pool, way: ModelWay, index: number): Promise<void> {
  // A prime, so that the kinds are mixed.
  const kind = CALLS[(index * 7) % CALLS.length];
  if (kind === undefined) throw new Error('there is no kind of call');
  const answer = await pool.request({
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { 'content-type': 'application/json', ...way.headers },
    body: kind.body,
  });
  if (answer.statusCode !== 200)
    throw new Error(`${way.name} answered ${answer.statusCode}: ${await answer.body.text()}`);
  for await (const _ of answer.body) if (kind.leaves) break;
}

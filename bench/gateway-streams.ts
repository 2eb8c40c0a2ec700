// Five hundred streams at once through llm-gateway: whether every frame arrives, what a frame waits in it beside a bare
// relay, and a small stream beside requests of 400 kB.
import { Pool } from 'undici';
import { type ModelWay, modelRequest, openModelGateways } from './measure/model-gateways.ts';
import { percentile } from './measure/percentile.ts';
import { peakRssMiB, rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const STREAMS = quick(500, 20);
/** Frames with text that the model of this bench sends in a stream, one a millisecond. */
const TOKENS = 20;
/** Streams at once where each frame's way is timed: few enough that the machine itself keeps up. */
const FEW = 8;
const ROUNDS = quick(25, 3);
const LARGE = quick(400_000, 20_000);
const LARGE_CALLS = quick(200, 5);

interface Stream {
  readonly first: number;
  readonly whole: number;
  readonly tokens: number;
  readonly done: boolean;
}

export default async function run(report: Report): Promise<void> {
  const ways = await openModelGateways(report);
  const pools = new Map(
    [ways.direct, ways.relay, ways.gateway].map((way) => [way, new Pool(way.url, { connections: STREAMS })]),
  );
  const post = (way: ModelWay, body: string): Promise<Awaited<ReturnType<Pool['request']>>> => {
    const pool = pools.get(way);
    if (pool === undefined) throw new Error(`no pool of ${way.name}`);
    return pool.request({
      path: '/v1/chat/completions',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...way.headers },
      body,
    });
  };
  const stream = async (way: ModelWay): Promise<Stream> => {
    const began = performance.now();
    const { statusCode, body } = await post(way, modelRequest(true));
    if (statusCode !== 200) throw new Error(`${way.name} answered ${statusCode}: ${await body.text()}`);
    let first = 0;
    let text = '';
    for await (const chunk of body) {
      first ||= performance.now() - began;
      text += String(chunk);
    }
    return {
      first,
      whole: performance.now() - began,
      tokens: text.split('"token "').length - 1,
      done: text.includes('[DONE]'),
    };
  };
  const large = async (way: ModelWay, body: string): Promise<number> => {
    const began = performance.now();
    const answer = await post(way, body);
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${way.name} answered ${answer.statusCode}: ${text}`);
    return performance.now() - began;
  };
  try {
    const idle = await rssMiB(ways.gateway.pid);
    // Frame by frame, with few at once: what each of the twenty waits, as a share of what the whole stream is longer.
    const perToken = new Map<ModelWay, number[]>([...pools.keys()].map((way) => [way, []]));
    for (let round = -3; round < ROUNDS; round += 1)
      for (const [way, samples] of perToken)
        for (const { first, whole } of await Promise.all(Array.from({ length: FEW }, () => stream(way))))
          if (round >= 0) samples.push(((whole - first) / TOKENS) * 1_000);
    const of = (way: ModelWay, p: number): number => percentile(perToken.get(way) ?? [], p);
    for (const [name, p] of [
      ['token-added-p50', 0.5],
      ['token-added-p99', 0.99],
    ] as const)
      report.figure({
        figure: name,
        value: of(ways.gateway, p) - of(ways.direct, p),
        unit: 'us',
        floor: of(ways.relay, p) - of(ways.direct, p),
        n: ROUNDS * FEW,
      });

    const all = await Promise.all(Array.from({ length: STREAMS }, () => stream(ways.gateway)));
    report.figure({
      figure: 'streams-whole',
      value: all.filter(({ tokens, done }) => tokens === TOKENS && done).length,
      unit: 'count',
      floor: STREAMS,
      n: STREAMS,
    });
    report.figure({
      figure: 'streams-last-frame-p99',
      value: percentile(
        all.map(({ whole }) => whole),
        0.99,
      ),
      unit: 'ms',
      n: STREAMS,
    });

    const body = modelRequest(false, 'x'.repeat(LARGE));
    const times = new Map<ModelWay, number[]>([...pools.keys()].map((way) => [way, []]));
    for (let index = -20; index < LARGE_CALLS; index += 1)
      for (const [way, samples] of times) {
        const time = await large(way, body);
        if (index >= 0) samples.push(time);
      }
    const largeOf = (way: ModelWay, p: number): number => percentile(times.get(way) ?? [], p);
    for (const [name, p] of [
      ['large-added-p50', 0.5],
      ['large-added-p99', 0.99],
    ] as const)
      report.figure({
        figure: name,
        value: largeOf(ways.gateway, p) - largeOf(ways.direct, p),
        unit: 'ms',
        floor: largeOf(ways.relay, p) - largeOf(ways.direct, p),
        n: LARGE_CALLS,
      });

    for (const way of [ways.relay, ways.gateway]) {
      const alone: number[] = [];
      const beside: number[] = [];
      for (let index = 0; index < 60; index += 1) alone.push((await stream(way)).whole);
      let on = true;
      const busy = (async (): Promise<void> => {
        while (on) await large(way, body);
      })();
      for (let index = 0; index < 60; index += 1) beside.push((await stream(way)).whole);
      on = false;
      await busy;
      report.figure({
        figure: `small-stream-held-up-by-large-p50${way === ways.relay ? '-relay' : ''}`,
        value: percentile(beside, 0.5) - percentile(alone, 0.5),
        unit: 'ms',
        n: 60,
      });
    }
    report.figure({ figure: 'rss-idle', value: idle, unit: 'MiB', n: 1 });
    report.figure({ figure: 'rss-peak', value: await peakRssMiB(ways.gateway.pid), unit: 'MiB', n: 1 });
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
    await ways.close();
  }
}

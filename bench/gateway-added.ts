// What llm-gateway adds to a model call at concurrency 1, plain and streamed, with and without a folder for calls under
// way, beside what a bare undici relay, LiteLLM and Portkey add.
import { Pool } from 'undici';
import { type ModelWay, modelRequest, openModelGateways } from './measure/model-gateways.ts';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Of each way, until its code is compiled. */
const WARMUP = quick(1_500, 20);
const PLAIN = quick(3_000, 30);
const STREAMED = quick(400, 10);
/** A peer of some tens of milliseconds a call is asked less often. */
const OF_A_PEER = 150;

interface Sample {
  readonly first: number;
  readonly whole: number;
}

export default async function run(report: Report): Promise<void> {
  const ways = await openModelGateways(report, { peers: true, waiting: true });
  const pools = new Map<ModelWay, Pool>();
  const call = async (way: ModelWay, body: string): Promise<Sample> => {
    const pool = pools.get(way) ?? new Pool(way.url, { connections: 1 });
    pools.set(way, pool);
    const began = performance.now();
    const response = await pool.request({
      path: '/v1/chat/completions',
      method: 'POST',
      headers: { 'content-type': 'application/json', ...way.headers },
      body,
    });
    if (response.statusCode !== 200)
      throw new Error(`${way.name} answered ${response.statusCode}: ${(await response.body.text()).slice(0, 1_000)}`);
    let first = 0;
    for await (const _ of response.body) first ||= performance.now() - began;
    return { first, whole: performance.now() - began };
  };
  /** The ways in turn, so that what the machine does meanwhile falls on all of them. */
  const alternate = async (among: readonly ModelWay[], n: number, body: string): Promise<Map<ModelWay, Sample[]>> => {
    const samples = new Map(among.map((way): [ModelWay, Sample[]] => [way, []]));
    for (let index = -Math.min(WARMUP, n); index < n; index += 1) {
      for (const way of among) {
        const sample = await call(way, body);
        if (index >= 0) samples.get(way)?.push(sample);
      }
    }
    return samples;
  };
  const { direct, relay, gateway, waiting } = ways;
  const ours = waiting === null ? [gateway] : [gateway, waiting];
  const added = (samples: Map<ModelWay, Sample[]>, way: ModelWay, p: number, part: keyof Sample): number => {
    const of = (one: ModelWay): number =>
      percentile(
        (samples.get(one) ?? []).map((sample) => sample[part]),
        p,
      );
    return of(way) - of(direct);
  };
  try {
    const plain = await alternate([direct, relay, ...ours], PLAIN, modelRequest(false));
    const streamed = await alternate([direct, relay, ...ours], STREAMED, modelRequest(true));
    const peers: Array<{ name: string; plain: number; first: number; whole: number }> = [];
    for (const peer of ways.peers) {
      try {
        const asked = await alternate([direct, peer], OF_A_PEER, modelRequest(false));
        const listened = await alternate([direct, peer], OF_A_PEER, modelRequest(true));
        const one = {
          name: peer.name,
          plain: added(asked, peer, 0.5, 'whole'),
          first: added(listened, peer, 0.5, 'first'),
          whole: added(listened, peer, 0.5, 'whole'),
        };
        report.note(
          `${peer.name} adds p50 ${one.plain.toFixed(2)} ms plain, ${one.first.toFixed(2)} ms to the first token, ${one.whole.toFixed(2)} ms to the last`,
        );
        peers.push(one);
      } catch (error) {
        report.note(`${peer.name} is not measured: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const litellm = peers.find(({ name }) => name.startsWith('LiteLLM'));
    const beside = (figure: 'plain' | 'first' | 'whole'): { peer?: number } =>
      litellm === undefined ? {} : { peer: litellm[figure] };
    const figure = (
      name: string,
      samples: Map<ModelWay, Sample[]>,
      p: number,
      part: keyof Sample,
      n: number,
      peer: { peer?: number } = {},
    ): void =>
      report.figure({
        figure: name,
        value: added(samples, gateway, p, part),
        unit: 'ms',
        floor: added(samples, relay, p, part),
        n,
        ...peer,
      });
    figure('p50', plain, 0.5, 'whole', PLAIN, beside('plain'));
    figure('p99', plain, 0.99, 'whole', PLAIN);
    figure('stream-first-token-p50', streamed, 0.5, 'first', STREAMED, beside('first'));
    figure('stream-first-token-p99', streamed, 0.99, 'first', STREAMED);
    figure('stream-whole-p50', streamed, 0.5, 'whole', STREAMED, beside('whole'));
    if (waiting !== null)
      for (const [name, p] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const)
        report.figure({
          figure: `without-folder-${name}`,
          value: added(plain, waiting, p, 'whole'),
          unit: 'ms',
          floor: added(plain, gateway, p, 'whole'),
          n: PLAIN,
        });
    if (litellm !== undefined)
      report.figure({
        figure: 'litellm-over-ours',
        value: litellm.plain / added(plain, gateway, 0.5, 'whole'),
        unit: 'x',
        n: OF_A_PEER,
      });
    const direct50 = percentile(
      (plain.get(direct) ?? []).map(({ whole }) => whole),
      0.5,
    );
    report.note(
      `direct p50 ${direct50.toFixed(3)} ms plain; must: p50 at most 0.25 ms and twice the relay's, p99 at most the relay's and 0.5 ms`,
    );
  } finally {
    await Promise.all([...pools.values()].map((pool) => pool.close()));
    await ways.close();
  }
}

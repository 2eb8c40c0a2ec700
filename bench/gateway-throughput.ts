// Requests a second that a core of llm-gateway carries to a model that takes 20 ms, without and with budget and limits,
// beside a bare relay, LiteLLM and Portkey.
import { Pool } from 'undici';
import { type ModelWay, modelRequest, openModelGateways } from './measure/model-gateways.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const LATENCY_MS = 20;
/** Calls under way at once: at 20 ms each that allows 12,800 a second. */
const UNDER_WAY = quick(256, 32);
/** Of each way, until its code is compiled. */
const WARM_UP = quick(10_000, 100);
const REQUESTS = quick(20_000, 300);
/** A peer of some tens a second is asked less. */
const OF_A_PEER = 600;
const PEER_UNDER_WAY = 16;
/** Far away, and yet counted for each call. */
const LIMITS = { max_budget: 1_000_000, budget_duration: '30d', rpm_limit: 100_000_000, tpm_limit: 1_000_000_000 };

interface Carried {
  /** Requests for a second of the process's CPU. */
  readonly perCore: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export default async function run(report: Report): Promise<void> {
  const ways = await openModelGateways(report, { latencyMs: LATENCY_MS, peers: true });
  try {
    const relay = await carry(ways.relay, REQUESTS, UNDER_WAY);
    const plain = await carry(ways.gateway, REQUESTS, UNDER_WAY);
    const governedKey = await ways.key(LIMITS);
    const governed = await carry(
      { ...ways.gateway, headers: { authorization: `Bearer ${governedKey}` } },
      REQUESTS,
      UNDER_WAY,
    );
    const peers: Array<readonly [string, Carried]> = [];
    for (const peer of ways.peers) {
      const carried = await carry(peer, OF_A_PEER, PEER_UNDER_WAY).catch((error: unknown) =>
        report.note(`${peer.name} is not measured: ${String(error)}`),
      );
      if (carried !== undefined) peers.push([peer.name, carried]);
    }
    const litellm = peers.find(([name]) => name.startsWith('LiteLLM'))?.[1];
    const peer = litellm === undefined ? {} : { peer: litellm.perCore };
    report.figure({
      figure: 'per-core',
      value: plain.perCore,
      unit: '1/s',
      floor: relay.perCore,
      n: REQUESTS,
      ...peer,
    });
    report.figure({
      figure: 'per-core-governed',
      value: governed.perCore,
      unit: '1/s',
      floor: relay.perCore,
      n: REQUESTS,
      ...peer,
    });
    report.figure({ figure: 'per-second', value: plain.perSecond, unit: '1/s', floor: relay.perSecond, n: REQUESTS });
    report.figure({ figure: 'p50', value: plain.p50, unit: 'ms', floor: relay.p50, n: REQUESTS });
    report.figure({ figure: 'p99', value: plain.p99, unit: 'ms', floor: relay.p99, n: REQUESTS });
    if (litellm !== undefined)
      report.figure({
        figure: 'per-core-over-litellm',
        value: plain.perCore / litellm.perCore,
        unit: 'x',
        n: OF_A_PEER,
      });
    for (const [name, one] of peers)
      report.note(
        `${name}: ${one.perCore.toFixed(0)} requests a CPU-second, p50 ${one.p50.toFixed(1)} ms at ${PEER_UNDER_WAY} under way`,
      );
    report.note(
      'client, model and gateway share the cores of this machine; a core is a second of CPU of the one process in between',
    );
  } finally {
    await ways.close();
  }
}

async function carry(way: ModelWay, requests: number, underWay: number): Promise<Carried> {
  const pool = new Pool(way.url, { connections: underWay });
  const body = modelRequest(false);
  const headers = { 'content-type': 'application/json', ...way.headers };
  const loop = async (count: number): Promise<number[]> => {
    const times: number[] = [];
    let left = count;
    await Promise.all(
      Array.from({ length: underWay }, async () => {
        while (left > 0) {
          left -= 1;
          const began = performance.now();
          const answer = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body });
          const text = await answer.body.text();
          if (answer.statusCode !== 200) throw new Error(`${way.name} answered ${answer.statusCode} ${text}`);
          times.push(performance.now() - began);
        }
      }),
    );
    return times;
  };
  try {
    await loop(Math.min(WARM_UP, Math.ceil(requests / 2)));
    const [before, began] = [await cpuMs(way.pid), performance.now()];
    const times = await loop(requests);
    const seconds = (performance.now() - began) / 1_000;
    return {
      perCore: requests / (((await cpuMs(way.pid)) - before) / 1_000),
      perSecond: requests / seconds,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
    };
  } finally {
    await pool.close();
  }
}

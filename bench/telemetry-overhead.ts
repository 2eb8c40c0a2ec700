// What dd-trace costs app-server's list and ingest, and a warm claim of runtime-api: bundle without its plugin (A),
// with it and tracing off (B), on at 0.1 (C) and at 1.0 (D), agent absent (E), agent 5 s late (F). A process of each
// mode, in turn and then in reverse, on one database; figures are medians, over the rounds, of a mode and of its
// difference from its base in the same round. The cost of conversations' traces (the specification's mode G) is
// `trace-export`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { until } from '@slipway/testing';
import pg from 'pg';
import { Pool } from 'undici';
import { bundleProgram } from '../deploy/images/apps/app-bundle.ts';
import { datadogFolder } from '../deploy/images/apps/datadog/datadog-folder.ts';
import { type AppServers, observation, startAppServers } from './measure/app-server.ts';
import { startClaimsOnFarm } from './measure/claims-on-farm.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs, rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Figure, Report } from './measure/report.ts';
import { type ServiceProcess, startScript } from './measure/service-process.ts';

const ROUNDS = quick(5, 1);
const CONVERSATIONS = quick(1_000, 50);
const WARM_UP = quick(600, 10);
const REQUESTS = quick(2_000, 30);
/** Of 16 events each, one conversation after another. */
const BATCHES = quick(300, 5);
const EVENTS = 16;
const CONNECTIONS = 4;
/** Warm sandboxes; as long as half of them are there, the pool does not refill beside the claims. */
const STOCK = quick(600, 40);
const FIRST_CLAIMS = quick(50, 2);
const CLAIMS = quick(240, 10);
const LATE_MS = 5_000;

interface Mode {
  readonly name: 'A' | 'B' | 'C' | 'D' | 'E' | 'F';
  /** What it is compared with. */
  readonly base: Mode['name'] | null;
  readonly app: string;
  /** runtime-api over a farm of sandboxes that cost nothing. */
  readonly claims: string;
  readonly env: Readonly<Record<string, string>>;
}

/** CPU is milliseconds of one processor; `start` until the process is ready. */
interface Sample {
  readonly start_cpu: number;
  readonly list_cpu: number;
  readonly list_p50: number;
  readonly list_p99: number;
  readonly event_cpu: number;
  readonly claim_cpu: number;
  readonly claim_p50: number;
  readonly rss: number;
}

export default async function run(report: Report): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-telemetry-'));
  const servers = await startAppServers(0);
  const sinks = await Promise.all([startScript('bare-sink.ts'), startScript('bare-sink.ts', String(LATE_MS))]);
  const owner = new pg.Client({ connectionString: servers.ownerUrl });
  try {
    await owner.connect();
    await owner.query(SEED, [servers.orgId, CONVERSATIONS]);
    await owner.query('VACUUM ANALYZE');
    const modes = (await plan(folder, sinks)).slice(0, quick(6, 3));
    const rounds: Map<Mode['name'], Sample>[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const samples = new Map<Mode['name'], Sample>();
      for (const mode of round % 2 === 0 ? modes : [...modes].reverse())
        samples.set(mode.name, await measure(servers, mode));
      rounds.push(samples);
      report.note(`round ${round + 1} of ${ROUNDS}: load ${os.loadavg()[0]?.toFixed(1)}`);
    }
    for (const mode of modes) tell(report, mode, rounds);
  } finally {
    await owner.end();
    for (const sink of sinks) await sink.stop();
    await servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function plan(folder: string, [sink, late]: readonly ServiceProcess[]): Promise<Mode[]> {
  const datadog = await datadogFolder(AbortSignal.timeout(120_000));
  const bundle = async (entry: string, plugin?: string): Promise<string> => {
    const place = mkdtempSync(path.join(folder, 'bundle-'));
    writeFileSync(path.join(place, 'package.json'), '{"type":"module"}');
    writeFileSync(path.join(place, 'main.js'), (await bundleProgram(entry, { datadog: plugin })).content);
    return path.join(place, 'main.js');
  };
  const [app, claims] = ['apps/app-server/dist/main.js', 'bench/measure/runtime-api-on-farm.ts'];
  const plain = { app: await bundle(app), claims: await bundle(claims) };
  const seen = { app: await bundle(app, datadog), claims: await bundle(claims, datadog) };
  const traced = (agent: string, rate: string): Record<string, string> => ({
    NODE_OPTIONS: `--import=${pathToFileURL(path.join(datadog, 'preload.mjs')).href}`,
    DD_TRACE_AGENT_URL: agent,
    DD_SERVICE: 'slipway-app-server',
    DD_ENV: 'bench',
    DD_VERSION: '0',
    DD_TRACE_SAMPLE_RATE: rate,
    SLIPWAY_TRACES_EDGE: 'true',
  });
  const [on, slow] = [sink?.url ?? '', late?.url ?? ''];
  return [
    { name: 'A', base: null, ...plain, env: {} },
    { name: 'B', base: 'A', ...seen, env: {} },
    { name: 'C', base: 'B', ...seen, env: traced(on, '0.1') },
    { name: 'D', base: 'B', ...seen, env: traced(on, '1') },
    { name: 'E', base: 'C', ...seen, env: traced('http://127.0.0.1:9', '0.1') },
    { name: 'F', base: 'C', ...seen, env: traced(slow, '0.1') },
  ];
}

async function measure(servers: AppServers, mode: Mode): Promise<Sample> {
  const server = await servers.another(
    { ...mode.env, RATE_READS_PER_MINUTE: '100000000', RATE_ORG_MULTIPLE: '10000' },
    mode.app,
  );
  const pool = new Pool(server.url, { connections: CONNECTIONS });
  try {
    const started = await cpuMs(server.pid);
    await ask(servers, pool, WARM_UP);
    const beforeList = await cpuMs(server.pid);
    const times = await ask(servers, pool, REQUESTS);
    const afterList = await cpuMs(server.pid);
    const producer = await servers.conversation(server);
    for (let batch = 0; batch < BATCHES; batch += 1)
      await producer.send(Array.from({ length: EVENTS }, () => observation('x')));
    const afterEvents = await cpuMs(server.pid);
    const rss = await rssMiB(server.pid);
    await server.stop();
    return {
      ...(await claim(mode)),
      start_cpu: started,
      list_cpu: (afterList - beforeList) / REQUESTS,
      list_p50: percentile(times, 0.5),
      list_p99: percentile(times, 0.99),
      event_cpu: (afterEvents - afterList) / (BATCHES * EVENTS),
      rss,
    };
  } finally {
    await pool.close();
    await server.stop();
  }
}

/** Claims one at a time, on a pool that is not refilled meanwhile. */
async function claim({ claims, env }: Mode): Promise<Pick<Sample, 'claim_cpu' | 'claim_p50'>> {
  const farm = await startClaimsOnFarm(STOCK, 1, { entry: claims, env });
  try {
    await until('the pool is full', farm.isFull, 120_000);
    for (let index = 0; index < FIRST_CLAIMS; index += 1) await farm.claim(`first-${index}`);
    const before = await cpuMs(farm.api.pid);
    const times: number[] = [];
    for (let index = 0; index < CLAIMS; index += 1) times.push(await farm.claim(`session-${index}`));
    return { claim_cpu: ((await cpuMs(farm.api.pid)) - before) / CLAIMS, claim_p50: percentile(times, 0.5) };
  } finally {
    await farm.stop();
  }
}

/** Lists of fifty, to the last byte. @returns milliseconds of each. */
async function ask(servers: AppServers, pool: Pool, total: number): Promise<number[]> {
  const times: number[] = [];
  let left = total;
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const began = performance.now();
      const { statusCode, body } = await pool.request({
        method: 'GET',
        path: `/api/v1/orgs/${servers.orgId}/conversations`,
        headers: { cookie: servers.cookie },
      });
      if (statusCode !== 200) throw new Error(`the list answered ${statusCode} ${await body.text()}`);
      await body.dump({ limit: 1_000_000 });
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return times;
}

function tell(report: Report, { name, base }: Mode, rounds: readonly Map<Mode['name'], Sample>[]): void {
  const median = (values: readonly number[]): number => percentile(values, 0.5);
  const of = (mode: Mode['name'], key: keyof Sample): number[] =>
    rounds.map((samples) => samples.get(mode)?.[key] ?? 0);
  for (const key of [
    'start_cpu',
    'list_cpu',
    'list_p50',
    'list_p99',
    'event_cpu',
    'claim_cpu',
    'claim_p50',
    'rss',
  ] as const) {
    const [own, from] = [of(name, key), base === null ? null : of(base, key)];
    const line: Figure = {
      figure: `${name}_${key}`,
      value: median(own),
      unit: key === 'rss' ? 'MiB' : 'ms',
      n: rounds.length,
    };
    if (from === null) report.figure(line);
    else {
      const ratio = median(own.map((value, index) => value / Math.max(from[index] ?? 0, 1e-6)));
      report.figure({ ...line, floor: median(from), ratio });
      report.figure({
        figure: `${name}_${key}_over_${base}`,
        value: median(own.map((value, index) => value - (from[index] ?? 0))),
        unit: line.unit,
        n: rounds.length,
      });
    }
  }
}

const SEED = `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, status, created_at, updated_at, status_state)
  SELECT gen_random_uuid(), $1, 'usr_bench', 'Bench', 'Task number ' || i, 'model-1', 'finished', now() - i * interval '1 minute', now() - i * interval '1 minute',
    '{"execution":"finished","start":"ready","halt":"none"}' FROM generate_series(1, $2::int) i`;

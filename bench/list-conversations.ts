// The list of conversations over HTTP with a session: requests a core of app-server, and pages of 100,000 conversations
// in every order and by every filter. The database is settled before anything is measured, like one that was not filled
// a second ago: VACUUM, ANALYZE and a checkpoint of what the filling wrote. By the clock there are as many connections
// as requests under way, since a browser does not wait for another's; `caller_late` is the amount by which the caller
// itself was late. Answers are taken to the last byte and not read.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import { startAppServers } from './measure/app-server.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Connections that each ask again as soon as they are answered. */
const CONNECTIONS = 8;
const WARM_UP = quick(1_000, 20);
const REQUESTS = quick(8_000, 60);
const CONVERSATIONS = quick(100_000, 1000);
/**
 * Open loop: requests begin by the clock, whether or not those before have been answered, and a time is counted from
 * when the clock said so. Requests a second.
 */
const RATES = quick([300, 400, 500, 600, 700, 800, 900, 1_000], [50]);
const RATE_SECONDS = quick(4, 1);
/** More than are ever under way while answers are quick enough. */
const RATE_CONNECTIONS = 64;
/** A page of fifty is 26 KB. */
const MAX_ANSWER_BYTES = 1_000_000;
/** What the slowest hundredth may take. Milliseconds. */
const WITHIN_MS = 15;
const PAGES = quick(60, 3);

/** What an admin's screen asks for. Deep pages go by the cursor of an earlier one. */
const LISTS: ReadonlyArray<readonly [name: string, query: string]> = [
  ['created', ''],
  ['updated', 'sort=updated'],
  ['cost', 'sort=cost'],
  ['status', 'status=failed'],
  ['status_by_cost', 'status=failed&sort=cost'],
  ['owner', 'owner=usr_7'],
  ['repository', 'repository=https%3A%2F%2Fgit.test%2Frepo-7'],
  ['model', 'model=model-1'],
  ['search_some', 'search=number%2077'],
  ['search_none', 'search=nowhere%20to%20be%20found'],
];

const SEED = `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, repository, status, cost_usd, created_at, updated_at, steps, status_state)
  SELECT gen_random_uuid(), $1, 'usr_' || (i % 50), 'Person ' || (i % 50), 'Task number ' || i || ' about ' || md5(i::text), 'model-' || (i % 3),
    CASE WHEN i % 10 = 0 THEN NULL ELSE 'https://git.test/repo-' || (i % 200) END, (ARRAY['finished', 'finished', 'finished', 'finished', 'waiting', 'paused', 'working', 'failed'])[1 + (i % 8)],
    random() * 10, now() - i * interval '1 minute', now() - (i::bigint * 7919 % 120000) * interval '1 minute',
    (SELECT jsonb_agg(jsonb_build_object('status', 'READY', 'state', 'done', 'startedAt', '2026-11-22T00:00:00Z', 'elapsedMs', s, 'detail', 'done')) FROM generate_series(1, 7) s),
    '{"execution":"finished","start":"ready","halt":"none"}' FROM generate_series(1, $2::int) i`;

export default async function run(report: Report): Promise<void> {
  const servers = await startAppServers(1, { RATE_READS_PER_MINUTE: '100000000', RATE_ORG_MULTIPLE: '10000' });
  const owner = new pg.Client({ connectionString: servers.ownerUrl });
  const [server] = servers.replicas;
  if (server === undefined) throw new Error('no server');
  const pool = new Pool(server.url, { connections: CONNECTIONS });
  const ratePool = new Pool(server.url, { connections: RATE_CONNECTIONS });
  const send = (query: string, connections = pool) =>
    connections.request({
      method: 'GET',
      path: `/api/v1/orgs/${servers.orgId}/conversations?${query}`,
      headers: { cookie: servers.cookie },
    });
  const get = async (query: string): Promise<{ text: string; ms: number }> => {
    const began = performance.now();
    const { statusCode, body } = await send(query);
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the list answered ${statusCode} ${text}`);
    return { text, ms: performance.now() - began };
  };
  /** To the last byte, unread. @returns milliseconds. */
  const ask = async (connections: Pool): Promise<number> => {
    const began = performance.now();
    const { statusCode, body } = await send('', connections);
    if (statusCode !== 200) throw new Error(`the list answered ${statusCode} ${await body.text()}`);
    await body.dump({ limit: MAX_ANSWER_BYTES });
    return performance.now() - began;
  };
  try {
    await owner.connect();
    await owner.query(SEED, [servers.orgId, CONVERSATIONS]);
    await owner.query('VACUUM ANALYZE');
    await owner.query('CHECKPOINT');

    const loop = async (total: number): Promise<number[]> => {
      const times: number[] = [];
      let left = total;
      await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => {
          while (left > 0) {
            left -= 1;
            times.push(await ask(pool));
          }
        }),
      );
      return times;
    };
    await loop(WARM_UP);
    const [cpuBefore, began] = [await cpuMs(server.pid), performance.now()];
    const times = await loop(REQUESTS);
    const seconds = (performance.now() - began) / 1000;
    const cpuSeconds = ((await cpuMs(server.pid)) - cpuBefore) / 1000;
    report.figure({ figure: 'requests_per_cpu_second', value: REQUESTS / cpuSeconds, unit: '1/s', n: REQUESTS });
    report.figure({ figure: 'requests_per_second', value: REQUESTS / seconds, unit: '1/s', n: REQUESTS });
    report.figure({ figure: 'answered_p50', value: percentile(times, 0.5), unit: 'ms', n: REQUESTS });
    report.figure({ figure: 'answered_p99', value: percentile(times, 0.99), unit: 'ms', n: REQUESTS });

    await atRates(report, server.pid, () => ask(ratePool));

    for (const [name, query] of LISTS) {
      const pages: number[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < PAGES; page += 1) {
        const { text, ms } = await get(`limit=200&${query}${cursor === null ? '' : `&cursor=${cursor}`}`);
        pages.push(ms);
        cursor = (JSON.parse(text) as { page: { nextCursor: string | null } }).page.nextCursor;
      }
      report.figure({ figure: `page_of_200_by_${name}_p50`, value: percentile(pages, 0.5), unit: 'ms', n: PAGES });
      report.figure({ figure: `page_of_200_by_${name}_p99`, value: percentile(pages, 0.99), unit: 'ms', n: PAGES });
    }
  } finally {
    await pool.close();
    await ratePool.close();
    await owner.end();
    await servers.stop();
  }
}

/**
 * The highest rate at which the slowest hundredth is quick enough, and what app-server does with a second of one
 * processor at that rate. Callers and Postgres have the same processors.
 */
async function atRates(report: Report, pid: number, ask: () => Promise<unknown>): Promise<void> {
  let best: { rate: number; p99: number; perCpuSecond: number } | null = null;
  for (const rate of RATES) {
    const cpuBefore = await cpuMs(pid);
    const late = monitorEventLoopDelay({ resolution: 1 });
    late.enable();
    const times: number[] = [];
    const asked: Array<Promise<unknown>> = [];
    const began = performance.now();
    for (let index = 0; index < rate * RATE_SECONDS; ) {
      const due = began + (index * 1_000) / rate;
      if (due > performance.now()) await delay(1);
      else {
        asked.push(ask().then(() => times.push(performance.now() - due)));
        index += 1;
      }
    }
    await Promise.all(asked);
    const p99 = percentile(times, 0.99);
    const perCpuSecond = times.length / (((await cpuMs(pid)) - cpuBefore) / 1000);
    late.disable();
    report.figure({ figure: `at_${rate}_a_second_p99`, value: p99, unit: 'ms', n: times.length });
    report.figure({
      figure: `at_${rate}_a_second_caller_late_p99`,
      value: late.percentile(99) / 1e6,
      unit: 'ms',
      n: times.length,
    });
    if (p99 > WITHIN_MS) break;
    best = { rate, p99, perCpuSecond };
  }
  report.figure({
    figure: `highest_rate_within_${WITHIN_MS}_ms`,
    value: best?.rate ?? 0,
    unit: '1/s',
    n: RATES.length,
  });
  if (best !== null)
    report.figure({
      figure: 'requests_per_cpu_second_at_that_rate',
      value: best.perCpuSecond,
      unit: '1/s',
      n: best.rate * RATE_SECONDS,
    });
}

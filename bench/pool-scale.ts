// A pool of 10,000 warm sandboxes beside one of 100: what a claim costs, memory, a whole list, and whether there are
// ever too many. On a farm, or with POOL_SCALE_ON=cluster on fake nodes of a real API server.
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@slipway/testing';
import pg from 'pg';
import { Pool } from 'undici';
import { percentile } from './measure/percentile.ts';
import { openClusterPlace } from './measure/pool-on-cluster.ts';
import { openFarmPlace } from './measure/pool-on-farm.ts';
import { peakRssMiB, rssMiB } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import type { ServiceProcess } from './measure/service-process.ts';

/**
 * What Node itself takes for its heap in a container of 400 MiB; on a machine with more it lets garbage lie for longer.
 */
export const IN_CONTAINER = ['--max-old-space-size=200', '--max-semi-space-size=8'];

/** Where the sandboxes of this bench are. */
export interface PoolPlace {
  readonly name: string;
  readonly note: string;
  /** May read and write everything. */
  readonly databaseUrl: string;
  readonly apiKey: string;
  /** runtime-api on it, with a pool of so many. */
  start(target: number): Promise<ServiceProcess>;
  /** Reads everything that is there, as a replica that has just started does. */
  list(): Promise<number>;
  close(): Promise<void>;
}

const FEW = quick(100, 10);
const MANY = Number(process.env['POOL_SCALE_SLOTS'] ?? quick(10_000, 40));
/** Claims of a round, one after another; then the pool is full again. */
const CLAIMS = quick(50, 5);
const ROUNDS = quick(20, 1);
const LISTS = quick(5, 1);
/** Between two claims while everything is listed. Milliseconds. */
const PAUSE_MS = 20;
/** Fake nodes of a busy machine take some twenty pods a second. Milliseconds. */
const FILL_TIMEOUT_MS = 1_800_000;

export default async function run(report: Report): Promise<void> {
  const place = process.env['POOL_SCALE_ON'] === 'cluster' ? await openClusterPlace() : await openFarmPlace();
  const owner = new pg.Client({ connectionString: place.databaseUrl });
  await owner.connect();
  await watchPopulation(owner);
  report.note(`${place.name}: ${place.note}`);
  try {
    const few = await measure(owner, place, FEW, report);
    const many = await measure(owner, place, MANY, report);
    report.figure({ figure: 'p50', value: percentile(many.claims, 0.5), unit: 'ms', n: many.claims.length });
    report.figure({ figure: 'p99', value: percentile(many.claims, 0.99), unit: 'ms', n: many.claims.length });
    report.figure({ figure: 'p50-at-100', value: percentile(few.claims, 0.5), unit: 'ms', n: few.claims.length });
    report.figure({ figure: 'p99-at-100', value: percentile(few.claims, 0.99), unit: 'ms', n: few.claims.length });
    report.figure({
      figure: 'p50-over-100',
      value: percentile(many.claims, 0.5) / percentile(few.claims, 0.5),
      unit: 'x',
      n: many.claims.length,
    });
    report.figure({
      figure: 'p99-over-100',
      value: percentile(many.claims, 0.99) / percentile(few.claims, 0.99),
      unit: 'x',
      n: many.claims.length,
    });
    report.figure({ figure: 'rss', value: many.rss, unit: 'MiB', n: 1 });
    report.figure({ figure: 'rss-peak', value: many.peakRss, unit: 'MiB', n: 1 });
    report.figure({ figure: 'filled', value: MANY / many.fillSeconds, unit: '1/s', n: MANY });
    report.figure({ figure: 'relist', value: percentile(many.lists, 1) / 1_000, unit: 's', n: many.lists.length });
    report.figure({
      figure: 'p99-while-listed',
      value: percentile(many.claimsWhileListed, 0.99),
      unit: 'ms',
      n: many.claimsWhileListed.length,
    });
    const { rows } = await owner.query<{ population: number; target: number }>('SELECT * FROM public.population_over');
    report.figure({ figure: 'over-target', value: rows.length, unit: 'count', n: MANY + FEW + 2 * CLAIMS * ROUNDS });
  } finally {
    await owner.end();
    await place.close();
  }
}

interface Measured {
  readonly fillSeconds: number;
  readonly claims: number[];
  readonly claimsWhileListed: number[];
  readonly lists: number[];
  readonly rss: number;
  readonly peakRss: number;
}

async function measure(owner: pg.Client, place: PoolPlace, target: number, report: Report): Promise<Measured> {
  const api = await place.start(target);
  const client = new Pool(api.url, { connections: 1 });
  const headers = { 'x-api-key': place.apiKey, 'content-type': 'application/json' };
  const ready = async (): Promise<number> => {
    const { rows } = await owner.query<{ ready: string }>(
      `SELECT count(*) AS ready FROM runtime.slot WHERE state = 'ready'`,
    );
    return Number(rows[0]?.ready);
  };
  const full = (within: number): Promise<unknown> =>
    until('the pool is full', async () => (await ready()) >= target, within).catch(async (error: unknown) => {
      throw new Error(`${await ready()} of ${target} are ready; runtime-api said:\n${api.output()}`, { cause: error });
    });
  let session = 0;
  const claim = async (): Promise<number> => {
    session += 1;
    const body = JSON.stringify({ session_id: `of-${target}-${session}`, environment: { SLIPWAY: '1' } });
    const began = performance.now();
    const answer = await client.request({ path: '/start', method: 'POST', headers, body });
    const text = await answer.body.text();
    const elapsed = performance.now() - began;
    if (answer.statusCode !== 200)
      throw new Error(`a claim was answered ${answer.statusCode}: ${text}\n${api.output()}`);
    return elapsed;
  };
  try {
    const began = performance.now();
    await full(FILL_TIMEOUT_MS);
    const fillSeconds = (performance.now() - began) / 1_000;
    report.note(`${target} are ready after ${fillSeconds.toFixed(1)} s`);
    const claims: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      // The first round pays for what is compiled and connected once.
      for (let index = 0; index < CLAIMS; index += 1) {
        const elapsed = await claim();
        if (round > 0) claims.push(elapsed);
      }
      await full(120_000);
    }
    const rss = await rssMiB(api.pid);
    const lists: number[] = [];
    const claimsWhileListed: number[] = [];
    for (let index = 0; index < LISTS; index += 1) {
      let listing = true;
      const list = place.list().finally(() => {
        listing = false;
      });
      while (listing) {
        claimsWhileListed.push(await claim());
        await wait(PAUSE_MS);
      }
      lists.push(await list);
    }
    return { fillSeconds, claims, claimsWhileListed, lists, rss, peakRss: await peakRssMiB(api.pid) };
  } finally {
    await client.close();
    await api.stop();
  }
}

/** Every time that slots are written, the pool's blank ones are counted against its target, in the same transaction. */
async function watchPopulation(owner: pg.Client): Promise<void> {
  await owner.query(`
    CREATE TABLE public.population_over (population integer, target integer);
    CREATE FUNCTION public.watch_population() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO public.population_over SELECT count(s.slot_id), p.target FROM runtime.pool p JOIN runtime.slot s USING (pool_id)
        WHERE s.state <> 'gone' AND s.state IN ('intent', 'provisioning', 'ready', 'doomed') GROUP BY p.pool_id, p.target HAVING count(*) > p.target;
      RETURN NULL;
    END $$;
    CREATE TRIGGER watch_population AFTER INSERT ON runtime.slot FOR EACH STATEMENT EXECUTE FUNCTION public.watch_population();`);
}

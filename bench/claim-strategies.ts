// Five ways to give ready slots to claims, raced behind one interface by three replicas on one Postgres with synchronous commit: SKIP LOCKED, Redis lock, batch loop, list and patch, leased chunks.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, freePort } from '@slipway/testing';
import pg from 'pg';
import { commitFloor } from './measure/floor.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import type { Report } from './measure/report.ts';
import { OURS, STRATEGIES } from './strategies/all.ts';
import { SCHEMA } from './strategies/claim-strategy.ts';
import type { Loaded, Order } from './strategies/load.ts';

const REPLICAS = 3;
const LOADERS = 2;
/** Connections of one replica, whichever strategy. */
const CONNECTIONS = 12;
/**
 * Two loads, since the answer depends on it: what shares a commit needs claims to share it with.
 * `atOnce`: claims under way over all replicas, each followed by the next as soon as it is answered. Of the stock a fifth is always left, as in a pool that is refilled.
 */
const LOADS = [
  { atOnce: 96, stock: 600, claims: 480 },
  { atOnce: 300, stock: 1_500, claims: 1_200 },
] as const;
type Load = (typeof LOADS)[number];
const BURSTS = 6;
/** A slow strategy runs fewer bursts. Milliseconds of claiming. */
const LONGEST_MS = 8_000;
const PER_SECOND = 100;

interface Result {
  /** Claims a second of each burst. */
  readonly rates: number[];
  readonly latencies: number[];
  readonly calm: number[];
  /** CPU of the replicas and of their sessions in the database, over all bursts that count. Milliseconds. */
  readonly cpu: number;
}

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const redis = await startRedis();
  try {
    const { rows: off } = await owner.query<{ name: string }>(`SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting <> 'on'`);
    if (off.length > 0) throw new Error(`${off.map((row) => row.name).join(' and ')} must be on; without TEST_POSTGRES_URL the bench starts such a server`);
    await owner.query(SCHEMA);
    const floor = await commitFloor(database.ownerUrl);
    report.note(
      `${REPLICAS} replicas, ${LOADERS} processes of load, ${CONNECTIONS} connections each replica, at two loads: ${LOADS.map((load) => `${load.atOnce} claims under way, ${load.claims} of ${load.stock} ready slots a burst`).join('; ')}. rate: claims a second while saturated, median of the bursts, two rounds. cpu-per-claim: of the replicas and their sessions in the database, which says more than the rate on a machine that is busy with other things. p50, p99: while saturated; -open: at ${PER_SECOND} claims a second by a schedule. floor of latencies: one synchronous commit. list-and-patch writes rows of Postgres instead of objects of an API server: its best case. Answers are checked: no slot twice, every one durable.`,
    );
    if (redis === null) report.note('redis-lock is left out: this machine has no redis-server');
    const names = Object.keys(STRATEGIES).filter((name) => name !== 'redis-lock' || redis !== null);
    for (const load of LOADS) await compare(report, load, names, floor, (name) => race(name, load, database.ownerUrl, owner, redis?.port ?? null));
  } finally {
    await redis?.stop();
    await owner.end();
    await database.close();
  }
}

async function compare(report: Report, load: Load, names: readonly string[], floor: number, raceOnce: (name: string) => Promise<Result>): Promise<void> {
  const results = new Map<string, Result>();
  for (let round = 0; round < 2; round += 1)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await raceOnce(name);
      const before = results.get(name) ?? { rates: [], latencies: [], calm: [], cpu: 0 };
      results.set(name, {
        rates: [...before.rates, ...result.rates],
        latencies: [...before.latencies, ...result.latencies],
        calm: [...before.calm, ...result.calm],
        cpu: before.cpu + result.cpu,
      });
    }
  const at = `at-${load.atOnce}`;
  for (const [name, { rates, latencies, calm, cpu }] of results) {
    report.figure({ figure: `${name}-rate-${at}`, value: percentile(rates, 0.5), unit: '1/s', n: latencies.length });
    report.figure({ figure: `${name}-cpu-per-claim-${at}`, value: cpu / latencies.length, unit: 'ms', n: latencies.length });
    report.figure({ figure: `${name}-p50-${at}`, value: percentile(latencies, 0.5), unit: 'ms', floor, n: latencies.length });
    report.figure({ figure: `${name}-p99-${at}`, value: percentile(latencies, 0.99), unit: 'ms', floor, n: latencies.length });
    report.figure({ figure: `${name}-p50-open-${load.stock}`, value: percentile(calm, 0.5), unit: 'ms', floor, n: calm.length });
    report.figure({ figure: `${name}-p99-open-${load.stock}`, value: percentile(calm, 0.99), unit: 'ms', floor, n: calm.length });
  }
  const rateOf = (name: string): number => percentile(results.get(name)?.rates ?? [], 0.5);
  const best = [...results.keys()].filter((name) => name !== OURS).reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
  report.note(`with ${load.atOnce} at once the best other is ${best}`);
  report.figure({ figure: `ours-over-best-${at}`, value: rateOf(OURS) / rateOf(best), unit: 'x', n: results.get(OURS)?.rates.length ?? 0 });
}

async function race(strategy: string, load: Load, databaseUrl: string, owner: pg.Client, redisPort: number | null): Promise<Result> {
  const replicas: ChildProcess[] = [];
  const loaders: ChildProcess[] = [];
  const rates: number[] = [];
  const latencies: number[] = [];
  try {
    await owner.query('TRUNCATE race.slot');
    await restock(owner, load.stock);
    const ports: number[] = [];
    for (let replica = 0; replica < REPLICAS; replica += 1) {
      const given = { strategy, databaseUrl, connections: CONNECTIONS, replica, replicas: REPLICAS, redisPort };
      const child = startChild('replica.ts', given);
      replicas.push(child);
      ports.push(((await next(child)) as { port: number }).port);
    }
    for (let index = 0; index < LOADERS; index += 1) {
      const child = startChild('load.ts', ports);
      loaders.push(child);
      await next(child);
    }
    let spent = 0;
    let cpu = 0;
    // The first burst pays for what is compiled and connected once.
    for (let burst = 0; burst <= BURSTS && spent < LONGEST_MS; burst += 1) {
      await restock(owner, load.stock);
      await wait(150);
      const cpuBefore = await cpuOf(owner, replicas);
      const began = performance.now();
      const loaded = await Promise.all(
        loaders.map((loader, index) =>
          ask(loader, { kind: 'closed', prefix: `${strategy}-${burst}-${index}`, claims: load.claims / LOADERS, atOnce: load.atOnce / LOADERS }),
        ),
      );
      const elapsed = performance.now() - began;
      const used = (await cpuOf(owner, replicas)) - cpuBefore;
      await mustBeSound(owner, strategy, loaded);
      if (burst === 0) continue;
      cpu += used;
      spent += elapsed;
      rates.push((load.claims * 1_000) / elapsed);
      for (const each of loaded) latencies.push(...each.latencies);
    }
    await restock(owner, load.stock);
    await wait(150);
    const calm = await ask(loaders[0] as ChildProcess, { kind: 'open', prefix: `${strategy}-calm`, claims: 300, perSecond: PER_SECOND });
    await mustBeSound(owner, strategy, [calm]);
    return { rates, latencies, calm: calm.latencies, cpu };
  } finally {
    for (const child of [...loaders, ...replicas]) child.kill('SIGKILL');
  }
}

async function cpuOf(owner: pg.Client, replicas: readonly ChildProcess[]): Promise<number> {
  const { rows } = await owner.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'race-%'`);
  const all = await Promise.all([...replicas.map((child) => child.pid ?? 0), ...rows.map((row) => row.pid)].map(cpuMs));
  return all.reduce((sum, each) => sum + each, 0);
}

/** Full again, and without the dead rows of what was before. What a replica has leased and not used stays its own, as in a pool that is refilled. */
async function restock(owner: pg.Client, stock: number): Promise<void> {
  await owner.query(`DELETE FROM race.slot WHERE state <> 'ready'`);
  await owner.query(`INSERT INTO race.slot (slot_id) SELECT gen_random_uuid()::text FROM generate_series(1, $1 - (SELECT count(*) FROM race.slot))`, [stock]);
  await owner.query('TRUNCATE race.claim');
  await owner.query('VACUUM (ANALYZE) race.slot');
}

/** Every answer is a slot of its own and is what the database says. @throws Error */
async function mustBeSound(owner: pg.Client, strategy: string, loaded: readonly Loaded[]): Promise<void> {
  const slots = loaded.flatMap((each) => each.slots);
  const failed = loaded.reduce((sum, each) => sum + each.failed, 0);
  if (failed > 0) throw new Error(`${strategy}: ${failed} claims failed`);
  if (new Set(slots).size !== slots.length) throw new Error(`${strategy}: a slot was given out twice`);
  const { rows } = await owner.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM race.slot s JOIN race.claim c USING (slot_id) WHERE s.claim_id = c.claim_id AND s.state = 'bound' AND slot_id = ANY ($1)`,
    [slots],
  );
  if (rows[0]?.n !== slots.length) throw new Error(`${strategy}: ${slots.length} slots were answered, ${rows[0]?.n} are bound`);
}

function startChild(file: string, given: unknown): ChildProcess {
  const child = fork(fileURLToPath(new URL(`./strategies/${file}`, import.meta.url)), [JSON.stringify(given)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const atExit = (): void => void child.kill('SIGKILL');
  process.once('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  return child;
}

async function ask(child: ChildProcess, order: Order): Promise<Loaded> {
  const answer = next(child);
  child.send(order);
  return (await answer) as Loaded;
}

/** @throws Error when the process ends before it says something. */
async function next(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  try {
    const ended = once(child, 'exit', { signal: stop.signal }).then(([code]) => {
      throw new Error(`a process of the bench ended with ${code}`);
    });
    return await Promise.race([once(child, 'message', { signal: stop.signal }).then(([message]) => message as unknown), ended]);
  } finally {
    stop.abort();
  }
}

/** Without a disk: its authors use it as a lock, not as a record. `null` when there is none. */
async function startRedis(): Promise<{ port: number; stop(): Promise<void> } | null> {
  const program = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'redis-server'))
    .find(existsSync);
  if (program === undefined) return null;
  const port = await freePort();
  const child = spawn(program, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  process.once('exit', () => void child.kill('SIGKILL'));
  await wait(300);
  return {
    port,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

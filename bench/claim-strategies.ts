// Ways to give ready slots to claims, raced behind one interface by three replicas: SKIP LOCKED, list and patch on a
// real API server, Redis lock, batch loop, ours on the same table, ours as it is shipped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createTestDatabase, freePort } from '@slipway/testing';
import { missingForTestCluster } from '@slipway/testing/cluster';
import pg from 'pg';
import { commitFloor } from './measure/floor.ts';
import { percentile } from './measure/percentile.ts';
import { NOT_QUICK, QUICK, quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { OURS, RACERS, type Racer, SLIPWAY } from './strategies/all.ts';
import { CONNECTIONS, LOADERS, PER_SECOND, type RaceLoad, type RaceResult, REPLICAS, race } from './strategies/race.ts';
import type { RaceStock } from './strategies/stock/race-stock.ts';
import { StockOfObjects } from './strategies/stock/stock-of-objects.ts';
import { openStockOfRows } from './strategies/stock/stock-of-rows.ts';
import { openStockOfRuntime } from './strategies/stock/stock-of-runtime.ts';

/** Two loads, since the answer depends on it: what shares a commit needs claims to share it with. */
const LOADS: readonly RaceLoad[] = quick(
  [
    { atOnce: 96, stock: 600, claims: 480 },
    { atOnce: 300, stock: 1_500, claims: 1_200 },
  ],
  [{ atOnce: 6, stock: 40, claims: 20 }],
);

/** Of all strategies, the second one backwards. */
const ROUNDS = quick(2, 1);
/**
 * Longest race as seen on two cores: claiming ends after 8 s, and processes start and the slots are filled before each
 * burst.
 */
const RACE_SECONDS = quick(25, 5);

export default async function run(report: Report): Promise<void> {
  const races = Object.keys(RACERS).length * LOADS.length * ROUNDS;
  report.note(
    `${races} races of up to ${RACE_SECONDS} s: it takes up to ${Math.ceil((races * RACE_SECONDS) / 60)} minutes, and those of building a cluster where there is none yet`,
  );
  const database = await createTestDatabase();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const redis = await startRedis();
  const missing = QUICK ? NOT_QUICK : await missingForTestCluster();
  const objects = missing === null ? await StockOfObjects.open(database) : null;
  try {
    const { rows: off } = await owner.query<{ name: string }>(
      `SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting <> 'on'`,
    );
    if (off.length > 0 && !QUICK)
      throw new Error(
        `${off.map((row) => row.name).join(' and ')} must be on; without TEST_POSTGRES_URL the bench starts such a server`,
      );
    const stocks: Readonly<Record<Racer['stock'], RaceStock | null>> = {
      rows: await openStockOfRows(database, owner),
      runtime: openStockOfRuntime(database, owner),
      objects,
    };
    const floor = await commitFloor(database.ownerUrl);
    report.note(
      `${REPLICAS} replicas, ${LOADERS} processes of load, ${CONNECTIONS} connections each replica, at two loads: ${LOADS.map((load) => `${load.atOnce} claims under way, ${load.claims} of ${load.stock} ready slots a burst`).join('; ')}. rate: claims a second while saturated, median of the bursts, two rounds. cpu-per-claim: of the replicas and of what they claim from (their sessions in the database, or all programs of the control plane), which says more than the rate on a machine that is busy with other things. p50, p99: while saturated; -open: at ${PER_SECOND} claims a second by a schedule. floor of latencies: one synchronous commit. Answers are checked: no slot twice, every one durable.`,
    );
    report.note(
      `ours-over-best: ${OURS}, our algorithm on the table of the others with the writes of the others, over the fastest of the four that the issue names, of which list-and-patch-api writes ConfigMaps of a real API server whose etcd waits for the disk. ours-over-any: the same over the fastest of all, with two that nobody runs: list-and-patch-rows as if its objects were rows of Postgres, skip-locked-newest in an order that an index has. ${SLIPWAY}-over-best: the code and the schema of runtime-api, which writes quota, session, claim and note beside the slot where the others write two rows, over the same four.`,
    );
    if (redis === null) report.note('redis-lock is left out: this machine has no redis-server');
    if (missing !== null) report.note(`list-and-patch-api is left out: ${missing}`);
    const racing = Object.entries(RACERS).flatMap(([name, racer]) => {
      const stock = stocks[racer.stock];
      return stock === null || (name === 'redis-lock' && redis === null) ? [] : [{ name, stock }];
    });
    for (const load of LOADS) {
      const results = new Map<string, RaceResult>();
      for (const round of [racing, racing.toReversed()].slice(0, ROUNDS))
        for (const { name, stock } of round) {
          const raced = {
            strategy: name,
            load,
            stock,
            owner,
            redisPort: redis?.port ?? null,
            kubeconfig: objects?.kubeconfig ?? null,
          };
          results.set(name, joined(results.get(name), await race(raced)));
        }
      tell(report, load, floor, results);
    }
  } finally {
    await objects?.close();
    await redis?.stop();
    await owner.end();
    await database.close();
  }
}

function joined(one: RaceResult | undefined, other: RaceResult): RaceResult {
  if (one === undefined) return other;
  return {
    rates: [...one.rates, ...other.rates],
    latencies: [...one.latencies, ...other.latencies],
    calm: [...one.calm, ...other.calm],
    cpu: one.cpu + other.cpu,
  };
}

function tell(report: Report, load: RaceLoad, floor: number, results: ReadonlyMap<string, RaceResult>): void {
  const at = `at-${load.atOnce}`;
  for (const [name, { rates, latencies, calm, cpu }] of results) {
    report.figure({ figure: `${name}-rate-${at}`, value: percentile(rates, 0.5), unit: '1/s', n: latencies.length });
    report.figure({
      figure: `${name}-cpu-per-claim-${at}`,
      value: cpu / latencies.length,
      unit: 'ms',
      n: latencies.length,
    });
    report.figure({
      figure: `${name}-p50-${at}`,
      value: percentile(latencies, 0.5),
      unit: 'ms',
      floor,
      n: latencies.length,
    });
    report.figure({
      figure: `${name}-p99-${at}`,
      value: percentile(latencies, 0.99),
      unit: 'ms',
      floor,
      n: latencies.length,
    });
    report.figure({
      figure: `${name}-p50-open-${load.stock}`,
      value: percentile(calm, 0.5),
      unit: 'ms',
      floor,
      n: calm.length,
    });
    report.figure({
      figure: `${name}-p99-open-${load.stock}`,
      value: percentile(calm, 0.99),
      unit: 'ms',
      floor,
      n: calm.length,
    });
  }
  const rateOf = (name: string): number => percentile(results.get(name)?.rates ?? [], 0.5);
  const fastestOf = (...kinds: readonly Racer['is'][]): string =>
    [...results.keys()]
      .filter((name) => kinds.includes((RACERS[name] as Racer).is))
      .reduce((a, b) => (rateOf(b) > rateOf(a) ? b : a));
  const compare = (figure: string, ours: string, other: string): void =>
    report.figure({
      figure: `${figure}-${at}`,
      value: rateOf(ours) / rateOf(other),
      unit: 'x',
      n: results.get(ours)?.rates.length ?? 0,
    });
  const best = fastestOf('named');
  const any = fastestOf('named', 'further');
  report.note(`with ${load.atOnce} at once the best of the four is ${best}, the best of all others ${any}`);
  compare('ours-over-best', OURS, best);
  compare('ours-over-any', OURS, any);
  compare(`${SLIPWAY}-over-best`, SLIPWAY, best);
}

/** Without a disk: its authors use it as a lock, not as a record. `null` when there is none. */
async function startRedis(): Promise<{ port: number; stop(): Promise<void> } | null> {
  const program = (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'redis-server'))
    .find(existsSync);
  if (program === undefined) return null;
  const port = await freePort();
  const child = spawn(program, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
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

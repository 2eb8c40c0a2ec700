// POST /start → activated sandbox, HTTP to HTTP, on a real Postgres with synchronous commit; floor: one such commit +
// two loopback calls. Sandboxes are a responder that costs nothing.
import { until } from '@slipway/testing';
import type pg from 'pg';
import { startClaimsOnFarm } from './measure/claims-on-farm.ts';
import { openLoop } from './measure/open-loop.ts';
import { percentile } from './measure/percentile.ts';
import { cpuMs } from './measure/process-usage.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

/** Warm sandboxes at the start of each round. */
const STOCK = quick(600, 40);
/** Claims of one round while at least half of the slots are ready: the pool does not refill beside them. */
const CALM = quick(300, 15);
/**
 * Claims that follow at once; the pool refills beside them as fast as it can. The slots are never used up, so none of
 * them waits for a sandbox to start.
 */
const BUSY = quick(200, 5);
const ROUNDS = quick(5, 1);
/** Claims a second of the open loop, by a schedule that does not wait for answers. */
const PER_SECOND = 100;

export default async function run(report: Report): Promise<void> {
  const claims = await startClaimsOnFarm(STOCK, 64);
  const { api, owner, isFull, claim } = claims;
  report.note(
    `each claim is a whole POST /start: quota, choice, binding commit, signed activation call, mark. Sandboxes listen on a port each, answer from one process and run nothing, so that ${(ROUNDS + 1) * (2 * CALM + BUSY)} are possible. p50, p99 and cpu-per-claim: at least half of the pool is ready. -open: ${PER_SECOND} a second by a Poisson schedule, from the scheduled moment; its floor is the same commit and calls at the same pace, since a processor that is idle in between takes its time to wake up. With the processor that runtime-api uses meanwhile for everything. -refilling: less than half, and the pool refills beside the claims without the pause that a real sandbox takes to start.`,
  );
  try {
    const calm: number[] = [];
    const busy: number[] = [];
    const open: number[] = [];
    let cpuCalm = 0;
    let cpuOpen = 0;
    let cpuAll = 0;
    await until('the pool is full', isFull, 120_000);
    const walAt = await walPosition(owner);
    for (let round = 0; round <= ROUNDS; round += 1) {
      // The first round pays for what is compiled and connected once.
      const counts = round > 0;
      const before = await cpuMs(api.pid);
      for (let index = 0; index < CALM; index += 1) {
        const elapsed = await claim(`session-${round}-${index}`);
        if (counts) calm.push(elapsed);
      }
      if (counts) cpuCalm += (await cpuMs(api.pid)) - before;
      for (let index = 0; index < BUSY; index += 1) {
        const elapsed = await claim(`session-${round}-busy-${index}`);
        if (counts) busy.push(elapsed);
      }
      await until('the pool is full', isFull, 120_000);
      if (counts) cpuAll += (await cpuMs(api.pid)) - before;
      const beforeOpen = await cpuMs(api.pid);
      const latencies = await openLoop(PER_SECOND, CALM, (index) => claim(`session-${round}-open-${index}`));
      if (counts) open.push(...latencies);
      if (counts) cpuOpen += (await cpuMs(api.pid)) - beforeOpen;
      await until('the pool is full', isFull, 120_000);
    }
    const count = (ROUNDS + 1) * (2 * CALM + BUSY);
    const wal = (await walPosition(owner)) - walAt;
    const floor = await claims.floor();
    const paced = await claims.pacedFloor(PER_SECOND);
    report.figure({ figure: 'p50', value: percentile(calm, 0.5), unit: 'ms', floor, n: calm.length });
    report.figure({ figure: 'p99', value: percentile(calm, 0.99), unit: 'ms', floor, n: calm.length });
    report.figure({ figure: 'p50-open', value: percentile(open, 0.5), unit: 'ms', floor: paced, n: open.length });
    report.figure({ figure: 'p99-open', value: percentile(open, 0.99), unit: 'ms', floor: paced, n: open.length });
    report.figure({
      figure: 'p50-open-over-busy-floor',
      value: percentile(open, 0.5) / floor,
      unit: 'x',
      n: open.length,
    });
    report.figure({
      figure: 'p99-open-over-p50-open',
      value: percentile(open, 0.99) / percentile(open, 0.5),
      unit: 'x',
      n: open.length,
    });
    report.figure({ figure: 'cpu-per-claim-open', value: cpuOpen / open.length, unit: 'ms', n: open.length });
    report.figure({ figure: 'p50-refilling', value: percentile(busy, 0.5), unit: 'ms', floor, n: busy.length });
    report.figure({ figure: 'p99-refilling', value: percentile(busy, 0.99), unit: 'ms', floor, n: busy.length });
    report.figure({ figure: 'cpu-per-claim', value: cpuCalm / calm.length, unit: 'ms', n: calm.length });
    report.figure({
      figure: 'cpu-per-claim-and-refill',
      value: cpuAll / (calm.length + busy.length),
      unit: 'ms',
      n: calm.length + busy.length,
    });
    report.figure({ figure: 'wal-per-claim-and-refill', value: wal / count, unit: 'B', n: count });
    await api.stop();
    const writes = await rowsWritten(owner, STOCK + count);
    report.figure({ figure: 'rows-per-claim-and-refill', value: writes.rows, unit: 'count', n: count });
    report.figure({ figure: 'rows-that-touch-no-index', value: writes.withoutIndex, unit: 'count', n: count });
    report.note(
      'writes to the cluster before the answer: none. rows: inserts and updates of all tables, for one sandbox from its intent to its active claim; one commit of a claim waits for the disk, its mark and the refill do not.',
    );
  } finally {
    await claims.stop();
  }
}

async function walPosition(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query<{ at: string }>(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS at`);
  return Number(rows[0]?.at ?? 0);
}

/**
 * Row versions written for one slot on average. To be asked when the service has ended: a session's statistics come
 * late while it runs.
 */
async function rowsWritten(owner: pg.Client, slots: number): Promise<{ rows: number; withoutIndex: number }> {
  const { rows } = await owner.query<{ rows: string; hot: string }>(
    `SELECT sum(n_tup_ins + n_tup_upd) AS rows, sum(n_tup_hot_upd) AS hot FROM pg_stat_user_tables WHERE schemaname = 'runtime'`,
  );
  return { rows: Number(rows[0]?.rows ?? 0) / slots, withoutIndex: Number(rows[0]?.hot ?? 0) / slots };
}

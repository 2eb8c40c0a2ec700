import type { Columns, SqlPool } from '@slipway/db/sql';
import { type ForecastState, SLOT_STATES, type SlotState } from '@slipway/domain';
import type { SandboxProblem } from '@slipway/sandbox';
import type { PoolSpec } from './pool-context.js';

export type Slot = Columns<'runtime.slot', 'address' | 'state' | 'epoch' | 'template', { state: SlotState }> & {
  readonly slotId: string;
  readonly podName: string;
  readonly podUid: string | null;
};

const SLOT = `slot_id AS "slotId", pod_name AS "podName", pod_uid AS "podUid", address, state, epoch, template`;

/** Template of a pool that is no longer configured: every slot of it is stale. */
export const RETIRED = 'retired';

export async function upsertPool(
  db: SqlPool,
  pool: Pick<PoolSpec, 'poolId' | 'image' | 'bounds' | 'maxAgeSeconds'> & { template: string },
): Promise<void> {
  const { min, max } = pool.bounds;
  await db.query(
    `INSERT INTO runtime.pool AS p (pool_id, image, template, target, max_age_seconds) VALUES ($1, $2, $3, $4, $6)
     ON CONFLICT (pool_id) DO UPDATE SET image = $2, template = $3, target = greatest($4, least($5, p.target)), max_age_seconds = $6, changed_at = now()`,
    [pool.poolId, pool.image, pool.template, min, Math.max(min, max), pool.maxAgeSeconds],
  );
}

/** Pools that are configured no longer keep nothing. @returns those of which slots are left. */
export async function retirePools(
  db: SqlPool,
  configured: readonly string[],
): Promise<Array<{ poolId: string; image: string }>> {
  await db.query(
    `UPDATE runtime.pool SET target = 0, template = $2, problem_code = NULL, problem_detail = NULL, problem_at = NULL, changed_at = now()
     WHERE pool_id <> ALL ($1) AND (target <> 0 OR template <> $2 OR problem_code IS NOT NULL)`,
    [configured, RETIRED],
  );
  const { rows } = await db.query<Columns<'runtime.pool', 'image'> & { poolId: string }>(
    `SELECT p.pool_id AS "poolId", p.image FROM runtime.pool p
     WHERE p.pool_id <> ALL ($1) AND EXISTS (SELECT 1 FROM runtime.slot s WHERE s.pool_id = p.pool_id AND s.state <> 'gone')`,
    [configured],
  );
  return rows;
}

export interface PoolCounts {
  /** What `plan_slots` counts against. */
  readonly target: number;
  /** What claims can take now. */
  readonly ready: number;
  /** Unclaimed sandboxes that exist or are being made, doomed ones too. */
  readonly blank: number;
  readonly beginning: number;
  readonly doomed: number;
  readonly releasing: number;
}

const EMPTY: PoolCounts = { target: 0, ready: 0, blank: 0, beginning: 0, doomed: 0, releasing: 0 };

/** Slot counts of every pool, in one query. */
export async function countPools(db: SqlPool): Promise<ReadonlyMap<string, PoolCounts>> {
  const { rows } = await db.query<PoolCounts & { poolId: string }>({
    name: 'count_stocks',
    text: `SELECT p.pool_id AS "poolId", p.target,
             count(s.slot_id) FILTER (WHERE s.state = 'ready')::integer AS ready,
             count(s.slot_id) FILTER (WHERE s.state <> 'releasing')::integer AS blank,
             count(s.slot_id) FILTER (WHERE s.state IN ('intent', 'provisioning'))::integer AS beginning,
             count(s.slot_id) FILTER (WHERE s.state = 'doomed')::integer AS doomed,
             count(s.slot_id) FILTER (WHERE s.state = 'releasing')::integer AS releasing
           FROM runtime.pool p LEFT JOIN runtime.slot s
             ON s.pool_id = p.pool_id AND s.state <> 'gone' AND s.state IN ('intent', 'provisioning', 'ready', 'doomed', 'releasing')
           GROUP BY p.pool_id`,
  });
  return new Map(rows.map(({ poolId, ...counts }) => [poolId, counts]));
}

/** Slots that there are, by pool and state; 0 for each state of a pool that no slot is in. */
export async function countSlots(db: SqlPool): Promise<Array<{ poolId: string; state: SlotState; count: number }>> {
  const { rows } = await db.query<{ poolId: string; state: SlotState; count: number }>({
    name: 'count_slots',
    text: `SELECT p.pool_id AS "poolId", x.state, count(s.slot_id)::integer AS count
           FROM runtime.pool p CROSS JOIN unnest($1::text[]) AS x(state)
             LEFT JOIN runtime.slot s ON s.pool_id = p.pool_id AND s.state = x.state AND s.state <> 'gone' GROUP BY p.pool_id, x.state`,
    values: [SLOT_STATES.filter((state) => state !== 'gone')],
  });
  return rows;
}

export async function countStock(db: SqlPool, poolId: string): Promise<PoolCounts> {
  return (await countPools(db)).get(poolId) ?? EMPTY;
}

/**
 * Writes the missing intents of the pool: at most as many as there are ids, counted again under the pool's lock.
 * @returns how many were written.
 */
export async function planSlots(db: SqlPool, poolId: string, freshIds: readonly string[]): Promise<number> {
  const planned = await db.query({
    name: 'plan_slots',
    text: 'SELECT runtime.plan_slots($1, $2)',
    values: [poolId, freshIds],
  });
  return planned.rowCount ?? 0;
}

/** Slots of a pool in some of the states, oldest first, at most `limit`. */
export async function slotsIn(
  db: SqlPool,
  poolId: string,
  states: readonly SlotState[],
  limit = 10_000,
): Promise<Slot[]> {
  const { rows } = await db.query<Slot>({
    name: 'slots_in',
    text: `SELECT ${SLOT} FROM runtime.slot WHERE pool_id = $1 AND state = ANY ($2) AND state <> 'gone' ORDER BY created_at LIMIT $3`,
    values: [poolId, states, limit],
  });
  return rows;
}

/** Creation of these begins, each under the same epoch; one round trip. Left out: those changed meanwhile. */
export async function beginSlots(db: SqlPool, slots: readonly Slot[]): Promise<Set<string>> {
  const { rows } = await db.query<{ slotId: string }>({
    name: 'begin_slots',
    text: 'SELECT runtime.begin_slots($1, $2) AS "slotId"',
    values: [slots.map((slot) => slot.slotId), slots.map((slot) => slot.epoch)],
  });
  return new Set(rows.map((row) => row.slotId));
}

/** Which sandbox this slot is; needed to remove it. */
export async function saveUid(db: SqlPool, slotId: string, uid: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE runtime.slot SET pod_uid = $2 WHERE slot_id = $1 AND (pod_uid IS NULL OR pod_uid = $2) AND state <> 'gone'`,
    [slotId, uid],
  );
  return rowCount === 1;
}

/** The slot may be given out, and which sandbox it is. */
export async function markReady(db: SqlPool, slot: Slot, uid: string, address: string): Promise<boolean> {
  const { rows } = await db.query<{ done: boolean }>({
    name: 'ready_slot',
    text: 'SELECT runtime.ready_slot($1, $2, $3, $4) AS done',
    values: [slot.slotId, slot.epoch, uid, address],
  });
  return rows[0]?.done === true;
}

/** States of a slot that no claim has. */
export type BlankState = 'intent' | 'provisioning' | 'ready';

/**
 * Removes an unclaimed slot from the pool; a replica that has leased it fails to bind it. False: it is in none of
 * `from`, which a bound one never is.
 */
export async function doomSlot(
  db: SqlPool,
  slotId: string,
  reason: string,
  from: readonly BlankState[],
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'doom_slot',
    text: `UPDATE runtime.slot SET state = 'doomed', epoch = epoch + 1, reason = $2, changed_at = now() WHERE slot_id = $1 AND state = ANY ($3)`,
    values: [slotId, reason, from],
  });
  return rowCount === 1;
}

/** Takes what a pool has too many out of it, ready ones first, oldest first. @returns how many. */
export async function doomSurplus(db: SqlPool, poolId: string, count: number): Promise<number> {
  const { rows } = await db.query<{ doomed: number }>({
    name: 'doom_surplus',
    text: 'SELECT runtime.doom_surplus($1, $2, $3) AS doomed',
    values: [poolId, count, 'the pool needs fewer'],
  });
  return rows[0]?.doomed ?? 0;
}

/** Blank slots that should not be given out any more: too old, or of another template. */
export async function agedSlots(db: SqlPool, poolId: string): Promise<Array<{ slotId: string; stale: boolean }>> {
  const { rows } = await db.query<{ slotId: string; stale: boolean }>({
    name: 'aged_slots',
    text: `SELECT s.slot_id AS "slotId", s.template <> p.template AS stale FROM runtime.slot s JOIN runtime.pool p USING (pool_id)
           WHERE s.pool_id = $1 AND s.state IN ('intent', 'provisioning', 'ready') AND s.state <> 'gone'
             AND (s.template <> p.template OR s.state = 'ready' AND s.created_at < now() - p.max_age_seconds * interval '1 second')
           ORDER BY s.created_at`,
    values: [poolId],
  });
  return rows;
}

/**
 * Warm slots whose last probe is older than `seconds`, at most `limit`, and notes the probe: up to a quarter earlier,
 * so that probes spread over the time.
 */
export async function takeDueChecks(db: SqlPool, poolId: string, seconds: number, limit: number): Promise<Slot[]> {
  const { rows } = await db.query<Slot>({
    name: 'take_due_checks',
    text: `WITH due AS MATERIALIZED (
             SELECT slot_id FROM runtime.slot WHERE pool_id = $1 AND state = 'ready' AND checked_at < now() - $2 * interval '1 second'
             LIMIT $3 FOR UPDATE SKIP LOCKED)
           UPDATE runtime.slot s SET checked_at = now() - random() * 0.25 * $2 * interval '1 second' FROM due WHERE s.slot_id = due.slot_id
           RETURNING s.slot_id AS "slotId", s.pod_name AS "podName", s.pod_uid AS "podUid", s.address, s.state, s.epoch, s.template`,
    values: [poolId, seconds, limit],
  });
  return rows;
}

/**
 * The sandbox of a slot has been removed. One that was used and whose workspace was never kept took it along. Not
 * waited for to reach the disk: it may be repeated.
 */
export async function markGone(db: SqlPool, slotId: string): Promise<void> {
  await db.query({
    name: 'slot_gone',
    text: `WITH hurry AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
           UPDATE runtime.slot SET state = 'gone', changed_at = now(), workspace_lost = (state = 'releasing' AND workspace_kept_at IS NULL), workspace_failing_since = NULL
           FROM hurry WHERE slot_id = $1 AND state IN ('releasing', 'doomed')`,
    values: [slotId],
  });
}

export async function countReady(db: SqlPool, poolId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_ready',
    text: `SELECT count(*) AS count FROM runtime.slot WHERE pool_id = $1 AND state = 'ready'`,
    values: [poolId],
  });
  return rows[0]?.count ?? 0;
}

/** What is in the way of a pool; `null`: nothing any more. */
export async function savePoolProblem(db: SqlPool, poolId: string, problem: SandboxProblem | null): Promise<void> {
  await db.query(
    `UPDATE runtime.pool SET problem_code = $2, problem_detail = $3, problem_at = CASE WHEN $2::text IS NULL THEN NULL ELSE now() END
     WHERE pool_id = $1 AND (problem_code IS DISTINCT FROM $2 OR problem_detail IS DISTINCT FROM $3)`,
    [poolId, problem?.code ?? null, problem?.detail ?? null],
  );
}

export interface PoolProblem {
  readonly poolId: string;
  readonly code: string;
  readonly detail: string;
}

export async function poolProblems(db: SqlPool): Promise<PoolProblem[]> {
  const { rows } = await db.query<PoolProblem>({
    name: 'pool_problems',
    text: `SELECT pool_id AS "poolId", problem_code AS code, problem_detail AS detail FROM runtime.pool WHERE problem_code IS NOT NULL ORDER BY pool_id`,
  });
  return rows;
}

/** Arrivals of the last second of this replica. */
export async function addArrivals(db: SqlPool, counts: ReadonlyMap<string, number>): Promise<void> {
  await db.query({
    name: 'add_arrivals',
    text: 'SELECT runtime.add_arrivals($1, $2)',
    values: [[...counts.keys()], [...counts.values()]],
  });
}

/** How the target of a pool came about, as the last leader left it. */
export async function savedForecast(
  db: SqlPool,
  poolId: string,
): Promise<{ forecast: ForecastState | null; leadSeconds: number | null }> {
  const { rows } = await db.query<
    Columns<'runtime.pool', 'forecast', { forecast: ForecastState | null }> & { leadSeconds: number | null }
  >('SELECT forecast, lead_seconds AS "leadSeconds" FROM runtime.pool WHERE pool_id = $1', [poolId]);
  return rows[0] ?? { forecast: null, leadSeconds: null };
}

/**
 * Arrivals in the seconds from `since` to `until`, both since 1970, the latter not included; earlier ones are
 * forgotten.
 */
export async function takeArrivals(db: SqlPool, since: number, until: number): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ poolId: string; count: number }>({
    name: 'take_arrivals',
    text: `WITH taken AS (DELETE FROM runtime.arrival WHERE at < to_timestamp($2) RETURNING pool_id, at, count)
           SELECT pool_id AS "poolId", sum(count)::integer AS count FROM taken WHERE at >= to_timestamp($1) GROUP BY pool_id`,
    values: [since, until],
  });
  return new Map(rows.map((row) => [row.poolId, row.count]));
}

/** Seconds since 1970, by the clock that everything here goes by. */
export async function databaseTime(db: SqlPool): Promise<number> {
  const { rows } = await db.query<{ now: number }>({
    name: 'database_time',
    text: 'SELECT extract(epoch FROM clock_timestamp())::double precision AS now',
  });
  return rows[0]?.now ?? 0;
}

export async function saveTarget(db: SqlPool, poolId: string, target: number): Promise<void> {
  await db.query({
    name: 'save_target',
    text: 'UPDATE runtime.pool SET target = $2 WHERE pool_id = $1 AND target <> $2',
    values: [poolId, target],
  });
}

export async function saveForecast(db: SqlPool, poolId: string, forecast: ForecastState): Promise<void> {
  await db.query('UPDATE runtime.pool SET forecast = $2 WHERE pool_id = $1', [poolId, JSON.stringify(forecast)]);
}

/**
 * Measures how long the last two hundred of the pool took from intent to ready: p99, in seconds; `null` when none has
 * become ready.
 */
export async function measureLead(db: SqlPool, poolId: string): Promise<number | null> {
  const { rows } = await db.query<{ lead: number | null }>(
    `WITH last AS (SELECT warmed_at - created_at AS took FROM runtime.slot WHERE pool_id = $1 AND state = 'ready' AND warmed_at IS NOT NULL ORDER BY warmed_at DESC LIMIT 200)
     UPDATE runtime.pool SET lead_seconds = coalesce((SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM took)) FROM last), lead_seconds)
     WHERE pool_id = $1 RETURNING lead_seconds AS lead`,
    [poolId],
  );
  return rows[0]?.lead ?? null;
}

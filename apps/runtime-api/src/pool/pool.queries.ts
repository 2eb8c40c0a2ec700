import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { SlotState } from '@slipway/domain';

export interface Slot {
  readonly slotId: string;
  readonly podName: string;
  readonly podUid: string | null;
  readonly address: string | null;
  readonly state: SlotState;
  readonly epoch: number;
  readonly template: string;
}

const SLOT = `slot_id AS "slotId", pod_name AS "podName", pod_uid AS "podUid", address, state, epoch, template`;

export async function upsertPool(db: SqlPool, pool: { poolId: string; image: string; template: string; target: number; maxAgeSeconds: number }): Promise<void> {
  await db.query(
    `INSERT INTO runtime.pool (pool_id, image, template, target, max_age_seconds) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (pool_id) DO UPDATE SET image = $2, template = $3, target = $4, max_age_seconds = $5, changed_at = now()`,
    [pool.poolId, pool.image, pool.template, pool.target, pool.maxAgeSeconds],
  );
}

export interface Stock {
  /** What a claim can take now. */
  readonly ready: number;
  /** Blank sandboxes that exist or are being made. */
  readonly blank: number;
  /** Slots that somebody has to work on. */
  readonly unfinished: number;
}

export async function countStock(db: SqlPool, poolId: string): Promise<Stock> {
  const { rows } = await db.query<Stock>({
    name: 'count_stock',
    text: `SELECT count(*) FILTER (WHERE state = 'ready') AS ready, count(*) FILTER (WHERE state <> 'releasing') AS blank, count(*) FILTER (WHERE state <> 'ready') AS unfinished
           FROM runtime.slot WHERE pool_id = $1 AND state IN ('intent', 'provisioning', 'ready', 'doomed', 'releasing')`,
    values: [poolId],
  });
  return rows[0] ?? { ready: 0, blank: 0, unfinished: 0 };
}

/** Writes the intents that the pool lacks: at most as many as there are ids, counted again under the pool's lock. @returns how many were written. */
export async function planSlots(db: SqlPool, poolId: string, freshIds: readonly string[]): Promise<number> {
  const planned = await db.query({ name: 'plan_slots', text: 'SELECT runtime.plan_slots($1, $2)', values: [poolId, freshIds] });
  return planned.rowCount ?? 0;
}

/** Slots of a pool in some of the states, oldest first. */
export async function slotsIn(db: SqlPool, poolId: string, states: readonly SlotState[]): Promise<Slot[]> {
  const { rows } = await db.query<Slot>({
    name: 'slots_in',
    text: `SELECT ${SLOT} FROM runtime.slot WHERE pool_id = $1 AND state = ANY ($2) AND state <> 'gone' ORDER BY created_at`,
    values: [poolId, states],
  });
  return rows;
}

/** Creation of these begins, each under the same epoch; one round trip. Left out: those that somebody has changed. */
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
  const { rowCount } = await db.query(`UPDATE runtime.slot SET pod_uid = $2 WHERE slot_id = $1 AND (pod_uid IS NULL OR pod_uid = $2) AND state <> 'gone'`, [
    slotId,
    uid,
  ]);
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

/** Takes a slot that nobody was given out of the pool. False: it is in none of `from`, which a bound one never is. */
export async function doomSlot(db: SqlPool, slotId: string, reason: string, from: ReadonlyArray<'intent' | 'provisioning' | 'ready'>): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE runtime.slot SET state = 'doomed', epoch = epoch + 1, reason = $2, changed_at = now() WHERE slot_id = $1 AND state = ANY ($3)`,
    [slotId, reason, from],
  );
  return rowCount === 1;
}

/** Ready slots that should not be given out any more: too old, or of another template. */
export async function agedSlots(db: SqlPool, poolId: string): Promise<Array<{ slotId: string; stale: boolean }>> {
  const { rows } = await db.query<{ slotId: string; stale: boolean }>({
    name: 'aged_slots',
    text: `SELECT s.slot_id AS "slotId", s.template <> p.template AS stale FROM runtime.slot s JOIN runtime.pool p USING (pool_id)
           WHERE s.pool_id = $1 AND s.state = 'ready' AND (s.template <> p.template OR s.created_at < now() - p.max_age_seconds * interval '1 second') ORDER BY s.created_at`,
    values: [poolId],
  });
  return rows;
}

/** Ready slots whose last look is longer ago than `seconds`, and notes the look. */
export async function takeDueChecks(db: SqlPool, poolId: string, seconds: number): Promise<Slot[]> {
  const { rows } = await db.query<Slot>({
    name: 'take_due_checks',
    text: `UPDATE runtime.slot SET checked_at = now() WHERE pool_id = $1 AND state = 'ready' AND checked_at < now() - $2 * interval '1 second' RETURNING ${SLOT}`,
    values: [poolId, seconds],
  });
  return rows;
}

/** The sandbox of a slot has been removed. */
export async function markGone(db: SqlPool, slotId: string): Promise<void> {
  await db.query({ name: 'forget_slot', text: 'SELECT runtime.forget_slot($1)', values: [slotId] });
}

export async function countReady(db: SqlPool, poolId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`SELECT count(*) AS count FROM runtime.slot WHERE pool_id = $1 AND state = 'ready'`, [poolId]);
  return rows[0]?.count ?? 0;
}

/** Claims that hold a sandbox, of every organization. */
export interface LiveClaim {
  readonly orgId: string;
  readonly claimId: string;
  readonly state: 'bound' | 'active';
  readonly overdue: boolean;
  readonly epoch: number;
  readonly podName: string;
  readonly podUid: string;
  readonly address: string;
  readonly restartCount: number;
}

export function liveClaims(db: SqlPool): Promise<LiveClaim[]> {
  return asSystem(db, 'slipway_runtime_system', 'reaper looks at every claim', async (client) => {
    const { rows } = await client.query<LiveClaim>(
      `SELECT c.org_id AS "orgId", c.claim_id AS "claimId", c.state, c.state = 'bound' AND c.deadline < now() AS overdue, c.epoch,
              s.pod_name AS "podName", s.pod_uid AS "podUid", s.address, c.restart_count AS "restartCount"
       FROM runtime.claim c JOIN runtime.slot s USING (slot_id) WHERE c.ended_at IS NULL`,
    );
    return rows;
  });
}

/** Restarts of the tool process as the backend counts them. */
export function saveRestarts(db: SqlPool, claimId: string, restarts: { count: number; reasons: readonly string[] }): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'reaper notes restarts', async (client) => {
    await client.query('UPDATE runtime.claim SET restart_count = $2, restart_reasons = $3 WHERE claim_id = $1 AND restart_count < $2', [
      claimId,
      restarts.count,
      restarts.reasons,
    ]);
  });
}

/** Names that something may still need: live slots' own, and those that sessions come back to. Forgets workspaces of sessions stopped longer ago than `seconds`. */
export function neededWorkspaces(db: SqlPool, stoppedSeconds: number): Promise<Set<string>> {
  return asSystem(db, 'slipway_runtime_system', 'reaper collects workspaces', async (client) => {
    await client.query(
      `UPDATE runtime.session SET workspace_ref = NULL WHERE status = 'stopped' AND workspace_ref IS NOT NULL AND changed_at < now() - $1 * interval '1 second'`,
      [stoppedSeconds],
    );
    const { rows } = await client.query<{ name: string }>(
      `SELECT pod_name AS name FROM runtime.slot WHERE state <> 'gone' UNION SELECT workspace_ref FROM runtime.session WHERE workspace_ref IS NOT NULL`,
    );
    return new Set(rows.map((row) => row.name));
  });
}

/** Rows that nothing can refer to any more. */
export function forgetOld(db: SqlPool, seconds: number): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'reaper forgets old rows', async (client) => {
    await client.query(`DELETE FROM runtime.slot WHERE state = 'gone' AND changed_at < now() - $1 * interval '1 second'`, [seconds]);
    await client.query(`DELETE FROM runtime.claim WHERE ended_at < now() - $1 * interval '1 second'`, [seconds]);
    await client.query(`DELETE FROM runtime.session WHERE status = 'stopped' AND workspace_ref IS NULL AND changed_at < now() - $1 * interval '1 second'`, [
      seconds,
    ]);
  });
}

/** Names of all sandboxes that should exist, of every pool. */
export async function liveNames(db: SqlPool): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(`SELECT pod_name AS name FROM runtime.slot WHERE state <> 'gone'`);
  return new Set(rows.map((row) => row.name));
}

/** A session left in `starting` without a claim, by a request that died between two attempts. */
export function failStranded(db: SqlPool): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'reaper ends stranded starts', async (client) => {
    await client.query(
      `UPDATE runtime.session s SET status = 'error', status_detail = 'the sandbox did not start', changed_at = now()
       WHERE s.status = 'starting' AND s.changed_at < now() - interval '30 seconds'
         AND NOT EXISTS (SELECT 1 FROM runtime.claim c WHERE c.claim_id = s.claim_id AND c.state IN ('bound', 'active'))`,
    );
  });
}

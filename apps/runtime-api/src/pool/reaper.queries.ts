import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { SlotState } from '@slipway/domain';

/** A slot that says that its sandbox exists. */
export interface LiveSlot {
  readonly slotId: string;
  readonly podName: string;
  readonly podUid: string;
}

/** Slots whose sandbox has been seen, of every pool, in the order of their ids: the next `limit` after `after`. */
export async function liveSlots(db: SqlPool, after: string, limit: number): Promise<LiveSlot[]> {
  const { rows } = await db.query<LiveSlot>({
    name: 'live_slots',
    text: `SELECT slot_id AS "slotId", pod_name AS "podName", pod_uid AS "podUid" FROM runtime.slot
           WHERE slot_id > $1 AND state <> 'gone' AND state IN ('ready', 'bound', 'active') ORDER BY slot_id LIMIT $2`,
    values: [after, limit],
  });
  return rows;
}

/** A slot with the claim that holds it, if one does. */
export interface HeldSlot extends LiveSlot {
  readonly state: SlotState;
  readonly address: string;
  readonly claim: {
    readonly orgId: string;
    readonly claimId: string;
    readonly epoch: number;
    readonly restartCount: number;
  } | null;
}

interface HeldRow extends LiveSlot {
  state: SlotState;
  address: string;
  orgId: string | null;
  claimId: string;
  epoch: number;
  restartCount: number;
}

/** Slots of these sandboxes that are warm or held by a live claim. */
export function slotsOf(db: SqlPool, podNames: readonly string[]): Promise<HeldSlot[]> {
  return asSystem(db, 'slipway_runtime_system', 'reaper reads claims of sandboxes that changed', async (client) => {
    const { rows } = await client.query<HeldRow>({
      name: 'slots_of',
      text: `SELECT s.slot_id AS "slotId", s.pod_name AS "podName", s.pod_uid AS "podUid", s.state, s.address,
                    c.org_id AS "orgId", c.claim_id AS "claimId", c.epoch, c.restart_count AS "restartCount"
             FROM runtime.slot s LEFT JOIN runtime.claim c ON c.claim_id = s.claim_id AND c.ended_at IS NULL
             WHERE s.pod_name = ANY ($1) AND s.state IN ('ready', 'bound', 'active')`,
      values: [podNames],
    });
    return rows.map(({ orgId, claimId, epoch, restartCount, ...slot }) => ({
      ...slot,
      claim: orgId === null ? null : { orgId, claimId, epoch, restartCount },
    }));
  });
}

export interface OverdueClaim {
  readonly orgId: string;
  readonly claimId: string;
  readonly epoch: number;
  readonly podName: string;
  readonly podUid: string;
  readonly address: string;
  readonly overdueSeconds: number;
}

/**
 * Claims that no sandbox has confirmed by their deadline. Found through their slots: nothing of a claim's state is in
 * an index.
 */
export function overdueClaims(db: SqlPool): Promise<OverdueClaim[]> {
  return asSystem(db, 'slipway_runtime_system', 'reaper reads overdue claims', async (client) => {
    const { rows } = await client.query<OverdueClaim>({
      name: 'overdue_claims',
      text: `SELECT c.org_id AS "orgId", c.claim_id AS "claimId", c.epoch, s.pod_name AS "podName", s.pod_uid AS "podUid", s.address,
               extract(epoch FROM now() - c.deadline)::float8 AS "overdueSeconds"
             FROM runtime.pool p JOIN runtime.slot s ON s.pool_id = p.pool_id AND s.state = 'bound' AND s.state <> 'gone'
               JOIN runtime.claim c ON c.claim_id = s.claim_id AND c.ended_at IS NULL AND c.state = 'bound'
             WHERE c.deadline < now()`,
    });
    return rows;
  });
}

/** Restarts of the tool process as the backend counts them. */
export function saveRestarts(
  db: SqlPool,
  claimId: string,
  restarts: { count: number; reasons: readonly string[] },
): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'reaper notes restarts', async (client) => {
    await client.query(
      'UPDATE runtime.claim SET restart_count = $2, restart_reasons = $3 WHERE claim_id = $1 AND restart_count < $2',
      [claimId, restarts.count, restarts.reasons],
    );
  });
}

/**
 * Takes warm slots of these sandboxes out of their pools, each with its reason; a replica that has leased one fails to
 * bind it. @returns how many.
 */
export async function doomByName(db: SqlPool, reasons: ReadonlyMap<string, string>): Promise<number> {
  const { rowCount } = await db.query({
    name: 'doom_by_name',
    text: `UPDATE runtime.slot s SET state = 'doomed', epoch = s.epoch + 1, reason = u.reason, changed_at = now() FROM unnest($1::text[], $2::text[]) AS u(pod_name, reason)
           WHERE s.pod_name = u.pod_name AND s.state = 'ready'`,
    values: [[...reasons.keys()], [...reasons.values()]],
  });
  return rowCount ?? 0;
}

/** Those of `names` that have no slot which is not gone: sandboxes that should not exist. */
export async function withoutSlot(db: SqlPool, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>({
    name: 'without_slot',
    text: `SELECT n AS name FROM unnest($1::text[]) n WHERE NOT EXISTS (SELECT 1 FROM runtime.slot s WHERE s.pod_name = n AND s.state <> 'gone')`,
    values: [names],
  });
  return new Set(rows.map((row) => row.name));
}

/** Sessions stopped longer ago than `seconds` give up their workspaces. */
export function forgetWorkspaces(db: SqlPool, seconds: number): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'reaper forgets workspaces', async (client) => {
    await client.query(
      `UPDATE runtime.session SET workspace_ref = NULL WHERE status = 'stopped' AND workspace_ref IS NOT NULL AND changed_at < now() - $1 * interval '1 second'`,
      [seconds],
    );
  });
}

/** Those of `workspaces` that nothing needs: no live slot was born with them, no session comes back to them. */
export function unneededWorkspaces(db: SqlPool, workspaces: readonly string[]): Promise<string[]> {
  return asSystem(db, 'slipway_runtime_system', 'reaper collects workspaces', async (client) => {
    const { rows } = await client.query<{ name: string }>({
      name: 'unneeded_workspaces',
      text: `SELECT n AS name FROM unnest($1::text[]) n
             WHERE NOT EXISTS (SELECT 1 FROM runtime.slot s WHERE s.pod_name = n AND s.state <> 'gone')
               AND NOT EXISTS (SELECT 1 FROM runtime.session t WHERE t.workspace_ref = n)`,
      values: [workspaces],
    });
    return rows.map((row) => row.name);
  });
}

/** Rows that nothing can refer to any more. */
export function forgetOld(db: SqlPool, seconds: number): Promise<void> {
  return asSystem(db, 'slipway_runtime_system', 'reaper forgets old rows', async (client) => {
    await client.query(
      `DELETE FROM runtime.slot WHERE state = 'gone' AND changed_at < now() - $1 * interval '1 second'`,
      [seconds],
    );
    await client.query(`DELETE FROM runtime.claim WHERE ended_at < now() - $1 * interval '1 second'`, [seconds]);
    await client.query(
      `DELETE FROM runtime.session WHERE status = 'stopped' AND workspace_ref IS NULL AND changed_at < now() - $1 * interval '1 second'`,
      [seconds],
    );
  });
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

/**
 * Claims of sessions whose ids begin with `prefix`, older than `seconds`. Found through their slots, as those that are
 * overdue.
 */
export function briefClaims(
  db: SqlPool,
  prefix: string,
  seconds: number,
): Promise<Array<Pick<ActiveClaim, 'orgId' | 'claimId'>>> {
  return asSystem(db, 'slipway_runtime_system', 'reaper reads brief sessions that were not ended', async (client) => {
    const { rows } = await client.query<Pick<ActiveClaim, 'orgId' | 'claimId'>>({
      name: 'brief_claims',
      text: `SELECT c.org_id AS "orgId", c.claim_id AS "claimId"
             FROM runtime.pool p JOIN runtime.slot s ON s.pool_id = p.pool_id AND s.state IN ('bound', 'active') AND s.state <> 'gone'
               JOIN runtime.claim c ON c.claim_id = s.claim_id AND c.ended_at IS NULL
             WHERE starts_with(c.session_id, $1) AND c.created_at < now() - $2 * interval '1 second'`,
      values: [prefix, seconds],
    });
    return rows;
  });
}

/** An active claim and where its sandbox answers. */
export interface ActiveClaim {
  readonly orgId: string;
  readonly claimId: string;
  readonly address: string;
  readonly ageSeconds: number;
}

/**
 * Active claims older than `seconds`, of every organization, in the order of their ids: the next `limit` after `after`.
 */
export function claimsOlderThan(db: SqlPool, seconds: number, after: string, limit: number): Promise<ActiveClaim[]> {
  return asSystem(db, 'slipway_runtime_system', 'reaper reads sessions that are idle or too old', async (client) => {
    const { rows } = await client.query<ActiveClaim>({
      name: 'claims_older_than',
      text: `SELECT c.org_id AS "orgId", c.claim_id AS "claimId", s.address, extract(epoch FROM now() - c.created_at)::double precision AS "ageSeconds"
             FROM runtime.claim c JOIN runtime.slot s USING (slot_id)
             WHERE c.ended_at IS NULL AND c.state = 'active' AND c.created_at < now() - $1 * interval '1 second' AND c.claim_id > $2 ORDER BY c.claim_id LIMIT $3`,
      values: [seconds, after, limit],
    });
    return rows;
  });
}

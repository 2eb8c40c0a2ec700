import { asSystem, type SqlPool } from '@slipway/db/sql';

/** How long, and how many, sandboxes are kept alive whose workspaces cannot be kept. */
export interface UnkeptBounds {
  /** Since the first failure. Seconds. */
  readonly holdSeconds: number;
  /** In all pools; the one that fails longest goes first. */
  readonly most: number;
}

/** A day to repair the store, and no more places of the cluster than these. */
export const UNKEPT_BOUNDS: UnkeptBounds = { holdSeconds: 86_400, most: 100 };

/**
 * The workspace is in the store; written before its sandbox ends. @param bytes what it takes there; `null`: not known,
 * or nothing was written.
 */
export async function noteKept(db: SqlPool, slotId: string, bytes: number | null): Promise<void> {
  const kept = `UPDATE runtime.slot SET workspace_kept_at = now(), workspace_failing_since = NULL, workspace_problem = NULL WHERE slot_id = $1 AND state = 'releasing'`;
  if (bytes === null) {
    await db.query(kept, [slotId]);
    return;
  }
  await asSystem(db, 'slipway_runtime_system', 'removal notes what a workspace takes', async (client) => {
    await client.query(kept, [slotId]);
    // A session that goes on elsewhere by now has a workspace of another size, which is noted when it is kept.
    await client.query(
      `UPDATE runtime.session s SET workspace_bytes = $2 FROM runtime.claim c
       WHERE c.slot_id = $1 AND s.org_id = c.org_id AND s.session_id = c.session_id AND s.claim_id = c.claim_id`,
      [slotId, bytes],
    );
  });
}

/** Keeping the workspace failed; the sandbox stays. */
export async function noteUnkept(db: SqlPool, slotId: string, problem: string): Promise<void> {
  await db.query(
    `UPDATE runtime.slot SET workspace_failing_since = coalesce(workspace_failing_since, now()), workspace_problem = $2
     WHERE slot_id = $1 AND state = 'releasing' AND (workspace_failing_since IS NULL OR workspace_problem IS DISTINCT FROM $2)`,
    [slotId, problem.slice(0, 2_000)],
  );
}

/**
 * Whether a session goes on with what is in the sandbox of this name: it was active, or may have been. Of one that
 * never was, `release_claim` keeps nothing. What is recorded on the sandbox itself may come later than this.
 */
export function isOwned(db: SqlPool, sandbox: string): Promise<boolean> {
  return asSystem(db, 'slipway_runtime_system', 'removal asks whose workspace it is', async (client) => {
    const { rows } = await client.query<{ owned: boolean }>({
      name: 'is_owned',
      text: 'SELECT EXISTS (SELECT 1 FROM runtime.session WHERE workspace_ref = $1) AS owned',
      values: [sandbox],
    });
    return rows[0]?.owned === true;
  });
}

/**
 * Whether the sandbox goes without its workspace: keeping it has failed for too long, or too many fail and this one
 * longest.
 */
export async function mayGiveUp(db: SqlPool, slotId: string, { holdSeconds, most }: UnkeptBounds): Promise<boolean> {
  const { rows } = await db.query<{ over: boolean }>({
    name: 'may_give_up',
    text: `SELECT s.workspace_failing_since < now() - $2 * interval '1 second'
             OR (SELECT count(*) FROM (SELECT 1 FROM runtime.slot o WHERE o.workspace_failing_since > s.workspace_failing_since AND o.state = 'releasing' LIMIT $3) newer) >= $3 AS over
           FROM runtime.slot s WHERE s.slot_id = $1 AND s.state = 'releasing' AND s.workspace_failing_since IS NOT NULL`,
    values: [slotId, holdSeconds, most],
  });
  return rows[0]?.over === true;
}

/** By pool: sandboxes that stay because their workspaces are not kept, and those of the last hour that went without. */
export async function countUnkept(db: SqlPool): Promise<Array<{ poolId: string; unkept: number; lost: number }>> {
  const { rows } = await db.query<{ poolId: string; unkept: number; lost: number }>({
    name: 'count_unkept',
    text: `SELECT p.pool_id AS "poolId",
             (SELECT count(*)::int FROM runtime.slot s WHERE s.pool_id = p.pool_id AND s.workspace_failing_since IS NOT NULL AND s.state = 'releasing') AS unkept,
             (SELECT count(*)::int FROM runtime.slot s WHERE s.pool_id = p.pool_id AND s.workspace_lost AND s.changed_at > now() - interval '1 hour') AS lost
           FROM runtime.pool p`,
  });
  return rows;
}

/** What fails now for the sandbox that fails longest; `null` when nothing fails. */
export async function oldestUnkept(db: SqlPool): Promise<{ problem: string; since: Date; count: number } | null> {
  const { rows } = await db.query<{ problem: string; since: Date; count: number }>({
    name: 'oldest_unkept',
    text: `SELECT workspace_problem AS problem, workspace_failing_since AS since, (count(*) OVER ())::int AS count FROM runtime.slot
           WHERE workspace_failing_since IS NOT NULL AND state = 'releasing' ORDER BY workspace_failing_since LIMIT 1`,
  });
  return rows[0] ?? null;
}

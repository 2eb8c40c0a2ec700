import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { OrgShare, OrgTurn, WaitingClaim } from '@slipway/domain';

/** Most sandboxes given out by one call; the next one goes on. */
const SERVED_AT_ONCE = 64;

/**
 * Gives unleased ready slots to claims that wait for the pool, in fair order. Cheap when none waits. @returns the
 * claims that were bound, the first served first.
 */
export async function serveWaiting(db: SqlPool, poolId: string, limit: number = SERVED_AT_ONCE): Promise<string[]> {
  const { rows } = await db.query<{ claim_id: string }>({
    name: 'serve_waiting',
    text: 'SELECT serve_waiting AS claim_id FROM runtime.serve_waiting($1, $2)',
    values: [poolId, limit],
  });
  return rows.map((row) => row.claim_id);
}

/** Sessions that wait for the pool and may have a sandbox: its shortage at this moment beyond its target. */
export async function countWaiting(db: SqlPool, poolId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'count_waiting',
    text: 'SELECT runtime.count_waiting($1) AS count',
    values: [poolId],
  });
  return rows[0]?.count ?? 0;
}

/** These wait on. @returns those that do not any more: they are bound, or their place is gone. */
export async function watchWaiting(db: SqlPool, claimIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ claim_id: string }>({
    name: 'watch_waiting',
    text: 'SELECT watch_waiting AS claim_id FROM runtime.watch_waiting($1)',
    values: [claimIds],
  });
  return rows.map((row) => row.claim_id);
}

/** The session waits no longer. `claimId`: only if it waits as this one; `null`: whichever. */
export async function leaveQueue(db: SqlPool, orgId: string, sessionId: string, claimId: string | null): Promise<void> {
  await db.query({
    name: 'leave_queue',
    text: 'SELECT runtime.leave_queue($1, $2, $3)',
    values: [orgId, sessionId, claimId],
  });
}

/** A pool's queue at one moment, as libs/domain counts it. */
export interface QueueSnapshot {
  readonly waiting: readonly WaitingClaim[];
  readonly shares: ReadonlyMap<string, OrgShare>;
  readonly turns: ReadonlyMap<string, OrgTurn>;
  /** Unclaimed sandboxes. */
  readonly ready: number;
  /** Sandboxes a second that became ready in the last minute. */
  readonly readyRate: number;
  /** Measured from the intent of a sandbox until it is ready; `null` until it was. */
  readonly leadSeconds: number | null;
  /** What is in the way of new ones, in the words of the place where they should run. */
  readonly problem: { readonly code: string; readonly detail: string } | null;
}

/** For whoever wants to know his place. Reads all that wait for the pool: not for the way of a claim. */
export function readQueue(db: SqlPool, poolId: string): Promise<QueueSnapshot> {
  return asSystem(db, 'slipway_runtime_system', 'place in the queue', async (client) => {
    const waiting = await client.query<WaitingClaim & { weight: number; cap: number; in_use: number }>(
      `SELECT w.claim_id AS "claimId", w.org_id AS "orgId", w.cost, w.lane, w.arrival, u.weight, coalesce(u.cap, w.default_cap) AS cap, u.in_use
       FROM runtime.waiting w JOIN runtime.org_usage u USING (org_id) WHERE w.pool_id = $1 AND w.seen_at > now() - interval '10 seconds'`,
      [poolId],
    );
    const turns = await client.query<OrgTurn & { org_id: string }>(
      'SELECT org_id, deficit, turn FROM runtime.fair_share WHERE pool_id = $1',
      [poolId],
    );
    const { rows } = await client.query<{
      code: string | null;
      detail: string | null;
      lead: number | null;
      ready: number;
      fresh: number;
    }>(
      `SELECT p.problem_code AS code, p.problem_detail AS detail, p.lead_seconds AS lead,
         (SELECT count(*) FROM runtime.slot s WHERE s.pool_id = p.pool_id AND s.state = 'ready') AS ready,
         (SELECT count(*) FROM runtime.slot s WHERE s.pool_id = p.pool_id AND s.state <> 'gone' AND s.warmed_at > now() - interval '1 minute') AS fresh
       FROM runtime.pool p WHERE p.pool_id = $1`,
      [poolId],
    );
    const [pool] = rows;
    return {
      waiting: waiting.rows,
      shares: new Map(waiting.rows.map((row) => [row.orgId, { weight: row.weight, cap: row.cap, inUse: row.in_use }])),
      turns: new Map(turns.rows.map(({ org_id, deficit, turn }) => [org_id, { deficit, turn }])),
      ready: pool?.ready ?? 0,
      readyRate: (pool?.fresh ?? 0) / 60,
      leadSeconds: pool?.lead ?? null,
      problem: pool?.code == null ? null : { code: pool.code, detail: pool.detail ?? pool.code },
    };
  });
}

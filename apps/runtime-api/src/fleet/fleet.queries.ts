import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

export interface FleetRow {
  readonly sessionId: string;
  readonly status: 'starting' | 'running';
  readonly detail: string | null;
  readonly podName: string;
  readonly poolId: string;
  /** It stood ready for more than a second before it was bound. */
  readonly warm: boolean | null;
  readonly restarts: number;
  readonly startedAt: Date;
}

/** Sessions of the organization that have a sandbox, newest first. */
export function readFleet(db: SqlPool, orgId: string, limit: number): Promise<FleetRow[]> {
  return inOrg(
    db,
    orgId,
    async (client) =>
      (
        await client.query<FleetRow>(
          `SELECT s.session_id AS "sessionId", s.status, s.status_detail AS detail, v.pod_name AS "podName", v.pool_id AS "poolId",
             v.warmed_at < c.created_at - interval '1 second' AS warm, s.lost_count + c.restart_count AS restarts, c.created_at AS "startedAt"
           FROM runtime.session s JOIN runtime.claim c ON c.claim_id = s.claim_id AND c.org_id = s.org_id JOIN runtime.slot v ON v.slot_id = c.slot_id
           WHERE s.org_id = $1 AND s.status IN ('starting', 'running') AND c.ended_at IS NULL ORDER BY c.created_at DESC LIMIT $2`,
          [orgId, limit],
        )
      ).rows,
  );
}

export interface WaitingRow {
  readonly sessionId: string;
  readonly claimId: string;
  readonly poolId: string;
  readonly since: Date;
}

/**
 * Who of the organization waits now, the longest first, and what of its quota is taken; `cap: null` is the default of
 * the installation.
 */
export function readWaiting(
  db: SqlPool,
  orgId: string,
  limit: number,
): Promise<{ waiting: WaitingRow[]; inUse: number; cap: number | null }> {
  return inOrg(db, orgId, async (client) => {
    const waiting = await client.query<WaitingRow>(
      `SELECT session_id AS "sessionId", claim_id AS "claimId", pool_id AS "poolId", enqueued_at AS since FROM runtime.waiting
       WHERE org_id = $1 AND seen_at > now() - interval '10 seconds' ORDER BY arrival LIMIT $2`,
      [orgId, limit],
    );
    const { rows } = await client.query<Columns<'runtime.org_usage', 'in_use' | 'cap'>>(
      'SELECT in_use, cap FROM runtime.org_usage WHERE org_id = $1',
      [orgId],
    );
    return { waiting: waiting.rows, inUse: rows[0]?.in_use ?? 0, cap: rows[0]?.cap ?? null };
  });
}

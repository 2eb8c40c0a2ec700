import { asSystem, inOrg, type SqlPool } from '@slipway/db/sql';

export interface KeptBytes {
  readonly orgId: string;
  readonly bytes: number;
  /** 0 for none. */
  readonly limit: number;
}

/**
 * What the kept workspaces of each organization that has some take. Workspaces that are to be deleted count no more.
 */
export function keptByOrg(db: SqlPool, defaultLimit: number): Promise<KeptBytes[]> {
  return asSystem(db, 'slipway_runtime_system', 'limit of kept workspaces', async (client) => {
    const { rows } = await client.query<KeptBytes>({
      name: 'kept_by_org',
      text: `SELECT k.org_id AS "orgId", k.bytes::float8 AS bytes, coalesce(u.workspace_limit_bytes, $1)::float8 AS "limit"
             FROM (SELECT org_id, sum(workspace_bytes) AS bytes FROM runtime.session
                   WHERE workspace_bytes IS NOT NULL AND workspace_ref IS NOT NULL GROUP BY org_id) k
             LEFT JOIN runtime.org_usage u USING (org_id)`,
      values: [defaultLimit],
    });
    return rows;
  });
}

export function sessionExists(db: SqlPool, orgId: string, sessionId: string): Promise<boolean> {
  return inOrg(db, orgId, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM runtime.session WHERE org_id = $1 AND session_id = $2', [
      orgId,
      sessionId,
    ]);
    return rowCount === 1;
  });
}

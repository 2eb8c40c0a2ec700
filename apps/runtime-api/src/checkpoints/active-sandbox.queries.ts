import { inOrg, type SqlPool } from '@slipway/db/sql';

/** The sandbox that a session has now. */
export interface ActiveSandbox {
  readonly slotId: string;
  readonly uid: string;
  readonly address: string;
}

/** `null`: the session has no running sandbox, or is not this organization's. */
export async function activeSandbox(db: SqlPool, orgId: string, sessionId: string): Promise<ActiveSandbox | null> {
  const { rows } = await inOrg(db, orgId, (client) =>
    client.query<ActiveSandbox>(
      `SELECT v.slot_id AS "slotId", v.pod_uid AS uid, s.url AS address
       FROM runtime.session s JOIN runtime.claim c ON c.claim_id = s.claim_id JOIN runtime.slot v ON v.slot_id = c.slot_id
       WHERE s.org_id = $1 AND s.session_id = $2 AND s.status = 'running' AND v.state = 'active'`,
      [orgId, sessionId],
    ),
  );
  return rows[0] ?? null;
}

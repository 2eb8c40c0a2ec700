import { inOrg, type SqlPool } from '@slipway/db/sql';

export interface TokenProblem {
  readonly connectionId: string;
  readonly tokenId: string;
  readonly why: string;
}

/** Once, until it is resolved; not for a token that was replaced meanwhile. @returns whether it is new. */
export function needAttention(
  pool: SqlPool,
  orgId: string,
  { connectionId, tokenId, why }: TokenProblem,
): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE app.integration_connection SET state = 'needs-attention', state_reason = $4, updated_at = now()
       WHERE org_id = $1 AND id = $2 AND state IN ('unverified', 'active') AND EXISTS (SELECT 1 FROM app.integration_secret WHERE org_id = $1 AND id = $3)`,
      [orgId, connectionId, tokenId, why],
    );
    return rowCount === 1;
  });
}

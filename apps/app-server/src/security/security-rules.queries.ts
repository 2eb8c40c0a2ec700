import type { SecurityRules, SecurityRuleValues } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';

const SELECT = `SELECT session_max_minutes AS "sessionMaxMinutes", session_idle_minutes AS "sessionIdleMinutes", second_factor AS "secondFactor", security_version AS version
  FROM app.org WHERE id = $1`;

export async function readSecurityRules(client: PoolClient, orgId: string): Promise<SecurityRules | null> {
  return (await client.query<SecurityRules>(SELECT, [orgId])).rows[0] ?? null;
}

/** The same with the row locked until the transaction ends. */
export async function lockSecurityRules(client: PoolClient, orgId: string): Promise<SecurityRules | null> {
  return (await client.query<SecurityRules>(`${SELECT} FOR UPDATE`, [orgId])).rows[0] ?? null;
}

/** @returns the new version. */
export async function writeSecurityRules(client: PoolClient, orgId: string, values: SecurityRuleValues): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `UPDATE app.org SET session_max_minutes = $2, session_idle_minutes = $3, second_factor = $4, security_version = security_version + 1
     WHERE id = $1 RETURNING security_version AS version`,
    [orgId, values.sessionMaxMinutes, values.sessionIdleMinutes, values.secondFactor],
  );
  return rows[0]?.version ?? 1;
}

/** A session is its user's, in no organization. */
export async function hadSecondFactor(client: PoolClient, sessionId: string): Promise<boolean> {
  const { rowCount } = await client.query('SELECT 1 FROM app.session WHERE id = $1 AND second_factor', [sessionId]);
  return rowCount === 1;
}

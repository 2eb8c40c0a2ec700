import type { BudgetStops } from '@slipway/contracts/models';
import { inOrg, type SqlPool } from '@slipway/db/sql';

/**
 * From now on these of the organization may not call, and no others are held back. One commit; repeating it changes
 * nothing.
 */
export function replaceBudgetStops(pool: SqlPool, orgId: string, stops: BudgetStops['stops']): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    const users = stops.map(({ user }) => user ?? '');
    await client.query('DELETE FROM gateway.budget_stop WHERE org_id = $1 AND NOT (user_id = ANY ($2))', [
      orgId,
      users,
    ]);
    await client.query(
      `INSERT INTO gateway.budget_stop (org_id, user_id, reason, until) SELECT $1, * FROM unnest($2::text[], $3::text[], $4::timestamptz[])
       ON CONFLICT (org_id, user_id) DO UPDATE SET reason = excluded.reason, until = excluded.until`,
      [orgId, users, stops.map(({ reason }) => reason), stops.map(({ until }) => until)],
    );
  });
}

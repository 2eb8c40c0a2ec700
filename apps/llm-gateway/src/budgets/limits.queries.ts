import type { OrgLimits } from '@slipway/contracts/models';
import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

/**
 * From now on these limits of an organization and its users apply, by the month, and no others. One commit; repeatable.
 * Unchanged ones are not published.
 */
export function replaceOrgLimits(
  pool: SqlPool,
  orgId: string,
  { resetDay, orgLimitUsd, memberLimitUsd, overrides, allowUnpriced }: OrgLimits,
): Promise<void> {
  const rows = [
    ...(orgLimitUsd === null ? [] : [{ kind: 'org', subject: '', limit: orgLimitUsd }]),
    ...(memberLimitUsd === null ? [] : [{ kind: 'member', subject: '', limit: memberLimitUsd }]),
    ...overrides.map(({ user, limitUsd }) => ({ kind: 'member', subject: user, limit: limitUsd })),
  ];
  const kinds = rows.map(({ kind }) => kind);
  const subjects = rows.map(({ subject }) => subject);
  return inOrg(pool, orgId, async (client) => {
    await client.query(
      `DELETE FROM gateway.budget b WHERE b.org_id = $1 AND b.kind IN ('org', 'member')
         AND NOT EXISTS (SELECT 1 FROM unnest($2::text[], $3::text[]) n(kind, subject) WHERE n.kind = b.kind AND n.subject = b.subject)`,
      [orgId, kinds, subjects],
    );
    await client.query(
      `INSERT INTO gateway.budget AS b (org_id, kind, subject, limit_usd, period, reset_day)
         SELECT $1, n.kind, n.subject, n.amount, 'month', $5 FROM unnest($2::text[], $3::text[], $4::numeric[]) n(kind, subject, amount) ORDER BY n.kind, n.subject
       ON CONFLICT (org_id, kind, subject) DO UPDATE SET limit_usd = excluded.limit_usd, period = 'month', reset_day = excluded.reset_day
         WHERE (b.limit_usd, b.period, b.reset_day) IS DISTINCT FROM (excluded.limit_usd, 'month', excluded.reset_day)`,
      [orgId, kinds, subjects, rows.map(({ limit }) => limit), resetDay],
    );
    await client.query(
      `INSERT INTO gateway.spending_rule AS r (org_id, allow_unpriced) VALUES ($1, $2)
       ON CONFLICT (org_id) DO UPDATE SET allow_unpriced = excluded.allow_unpriced WHERE r.allow_unpriced IS DISTINCT FROM excluded.allow_unpriced`,
      [orgId, allowUnpriced],
    );
  });
}

/** Whether an admin lets models without a price be called where a budget in USD limits the call. */
export function allowsUnpriced(pool: SqlPool, orgId: string): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Columns<'gateway.spending_rule', 'allow_unpriced'>>(
      'SELECT allow_unpriced FROM gateway.spending_rule WHERE org_id = $1',
      [orgId],
    );
    return rows[0]?.allow_unpriced === true;
  });
}

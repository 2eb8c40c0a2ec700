import type { Columns, PoolClient } from '@slipway/db/sql';
import { spenderLabel } from './budgets.queries.js';

/** Older ones are no news: they are of a time when no mail was sent. */
const NEWS = `interval '1 day'`;
/** Organizations of one poll. */
const MOST_ORGS = 100;

export interface NoticeToMail {
  /** Empty: the organization's own limit. */
  readonly user_id: string;
  readonly label: string | null;
  readonly org_name: string;
  readonly org_slug: string;
  readonly threshold: number;
  readonly spent_usd: string;
  readonly limit_usd: string;
  readonly cycle_end: Date;
}

/** As the system role. */
export async function orgsWithNotices(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.budget_notice', 'org_id'>>(
    `SELECT DISTINCT org_id FROM app.budget_notice WHERE mailed_at IS NULL AND created_at > now() - ${NEWS} LIMIT ${MOST_ORGS}`,
  );
  return rows.map(({ org_id }) => org_id);
}

/** Unclaimed ones; a concurrent process gets none of them. */
export async function takeNotices(client: PoolClient, orgId: string): Promise<NoticeToMail[]> {
  const { rows } = await client.query<NoticeToMail>(
    `WITH taken AS (UPDATE app.budget_notice SET mailed_at = now() WHERE org_id = $1 AND mailed_at IS NULL AND created_at > now() - ${NEWS} RETURNING *)
     SELECT t.user_id, CASE WHEN t.user_id = '' THEN NULL ELSE ${spenderLabel('t.user_id')} END AS label, o.name AS org_name, o.slug AS org_slug, t.threshold, round(t.spent_usd, 2)::text AS spent_usd,
            round(t.limit_usd, 2)::text AS limit_usd, t.cycle_end::timestamp AT TIME ZONE 'UTC' AS cycle_end
     FROM taken t JOIN app.org o ON o.id = t.org_id`,
    [orgId],
  );
  return rows;
}

/** Confirmed addresses of the owners and admins, and of the user whose limit it is. */
export async function recipientsOf(client: PoolClient, orgId: string, userId: string): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.user_account', 'email', { email: string }>>(
    `SELECT DISTINCT u.email FROM app.membership m JOIN app.user_account u ON u.id = m.user_id
     WHERE m.org_id = $1 AND (m.role IN ('owner', 'admin') OR m.user_id = $2) AND u.email IS NOT NULL AND u.email_verified AND u.deactivated_at IS NULL`,
    [orgId, userId],
  );
  return rows.map(({ email }) => email);
}

import { MAX_BUDGET_PEOPLE } from '@slipway/contracts/spending';
import type { Columns, PoolClient } from '@slipway/db/sql';
import { userLabel } from '../usage/usage.queries.js';

/**
 * Who is meant, as they were called when they last spent something if they have no account here any more. `$1` is the
 * organization.
 */
export const spenderLabel = (id: string): string =>
  userLabel(id, `(SELECT max(d.user_label) FROM app.usage_day d WHERE d.org_id = $1 AND d.user_id = ${id})`);

/** Limits of an organization. Amounts are decimals as Postgres writes them, `null` is none. */
export type BudgetRow = Columns<'app.budget', 'enabled' | 'reset_day' | 'allow_unpriced' | 'version'> & {
  readonly org_limit_usd: string | null;
  readonly member_limit_usd: string | null;
};

const NEVER_SET: BudgetRow = {
  enabled: true,
  reset_day: 1,
  org_limit_usd: null,
  member_limit_usd: null,
  allow_unpriced: false,
  version: 0,
};

export async function readBudget(client: PoolClient, orgId: string): Promise<BudgetRow> {
  const { rows } = await client.query<BudgetRow>(
    `SELECT enabled, reset_day, trim_scale(org_limit_usd)::text AS org_limit_usd, trim_scale(member_limit_usd)::text AS member_limit_usd, allow_unpriced, version
     FROM app.budget WHERE org_id = $1`,
    [orgId],
  );
  return rows[0] ?? NEVER_SET;
}

/** The same, locked until the transaction ends; the first read creates the row. */
export async function lockBudget(client: PoolClient, orgId: string): Promise<BudgetRow> {
  await client.query('INSERT INTO app.budget (org_id, version) VALUES ($1, 0) ON CONFLICT (org_id) DO NOTHING', [
    orgId,
  ]);
  await client.query('SELECT 1 FROM app.budget WHERE org_id = $1 FOR UPDATE', [orgId]);
  return readBudget(client, orgId);
}

export async function writeBudget(client: PoolClient, orgId: string, to: Omit<BudgetRow, 'version'>): Promise<void> {
  await client.query(
    `UPDATE app.budget SET enabled = $2, reset_day = $3, org_limit_usd = $4, member_limit_usd = $5, allow_unpriced = $6, version = version + 1 WHERE org_id = $1`,
    [orgId, to.enabled, to.reset_day, to.org_limit_usd, to.member_limit_usd, to.allow_unpriced],
  );
}

export async function settleBudget(client: PoolClient, orgId: string, now: Date): Promise<void> {
  await client.query('SELECT app.settle_budget($1, $2)', [orgId, now]);
}

export async function cycleOf(client: PoolClient, resetDay: number, now: Date): Promise<{ start: Date; end: Date }> {
  const { rows } = await client.query<{ start: Date; end: Date }>(
    `SELECT first_day::timestamp AT TIME ZONE 'UTC' AS start, next_day::timestamp AT TIME ZONE 'UTC' AS end FROM app.budget_cycle($1, $2)`,
    [resetDay, now],
  );
  const [cycle] = rows;
  if (cycle === undefined) throw new Error('a function without a row');
  return cycle;
}

export interface SpendingRow {
  /** Empty: the organization. */
  readonly user_id: string;
  readonly label: string;
  readonly overridden: boolean;
  readonly limit_usd: string | null;
  readonly spent_usd: string;
  readonly blocked: boolean;
}

/** The organization, then one row more than `MAX_BUDGET_PEOPLE` at most: who spent most first. */
export async function readSpending(
  client: PoolClient,
  orgId: string,
  now: Date,
  budget: Omit<BudgetRow, 'version'>,
): Promise<SpendingRow[]> {
  const { rows } = await client.query<SpendingRow>(
    `SELECT s.user_id, ${spenderLabel('s.user_id')} AS label, s.overridden,
       trim_scale(s.limit_usd)::text AS limit_usd, trim_scale(s.spent_usd)::text AS spent_usd, $6 AND coalesce(s.spent_usd >= s.limit_usd, false) AS blocked
     FROM app.budget_spending($1, $2, $3, $4, $5) s ORDER BY s.user_id = '' DESC, s.spent_usd DESC, s.user_id LIMIT $7`,
    [
      orgId,
      now,
      budget.reset_day,
      budget.org_limit_usd,
      budget.member_limit_usd,
      budget.enabled,
      MAX_BUDGET_PEOPLE + 2,
    ],
  );
  return rows;
}

export interface BudgetChange {
  readonly now: Date;
  readonly from: Omit<BudgetRow, 'version'>;
  readonly to: Omit<BudgetRow, 'version'>;
  readonly override: { user: string; limit: string | null; inherit: boolean } | null;
}

/**
 * Users who would be blocked by their own limit, of all users: `now` as it is, `then` with `to` and, of `user`, another
 * override.
 */
export async function compareBlocked(
  client: PoolClient,
  orgId: string,
  { now, from, to, override }: BudgetChange,
): Promise<Array<{ user_id: string; label: string; before: boolean; after: boolean }>> {
  const { rows } = await client.query<{ user_id: string; label: string; before: boolean; after: boolean }>(
    `SELECT x.*, CASE WHEN x.before = x.after THEN '' ELSE ${spenderLabel('x.user_id')} END AS label FROM (
       SELECT b.user_id, $6 AND coalesce(a.spent_usd >= a.limit_usd, false) AS before,
         $7 AND coalesce(b.spent_usd >= CASE WHEN b.user_id <> $8 THEN b.limit_usd WHEN $10 THEN $5::numeric ELSE $9::numeric END, false) AS after
       FROM app.budget_spending($1, $2, $11, $4, $5) b LEFT JOIN app.budget_spending($1, $2, $12, $13, $3) a ON a.user_id = b.user_id) x
     WHERE x.before OR x.after ORDER BY x.user_id`,
    [
      orgId,
      now,
      from.member_limit_usd,
      to.org_limit_usd,
      to.member_limit_usd,
      from.enabled,
      to.enabled,
      // No user has this name.
      override?.user ?? ' ',
      override?.limit ?? null,
      override?.inherit ?? false,
      to.reset_day,
      from.reset_day,
      from.org_limit_usd,
    ],
  );
  return rows;
}

export type OverrideRow = Columns<'app.budget_override', 'user_id' | 'changed_at' | 'changed_by'> & {
  readonly label: string;
  readonly limit_usd: string | null;
};

/** `user`: of this user alone. */
export async function readOverrides(client: PoolClient, orgId: string, user: string | null): Promise<OverrideRow[]> {
  const { rows } = await client.query<OverrideRow>(
    `SELECT o.user_id, ${spenderLabel('o.user_id')} AS label, trim_scale(o.limit_usd)::text AS limit_usd, o.changed_at, o.changed_by
     FROM app.budget_override o WHERE o.org_id = $1 AND ($2::text IS NULL OR o.user_id = $2) ORDER BY 2, 1 LIMIT ${MAX_BUDGET_PEOPLE}`,
    [orgId, user],
  );
  return rows;
}

/** A member, or a service account of the organization. */
export async function mayHaveOverride(client: PoolClient, orgId: string, user: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM app.membership WHERE org_id = $1 AND user_id = $2) OR EXISTS (SELECT 1 FROM app.service_account WHERE org_id = $1 AND id = $2) AS found`,
    [orgId, user],
  );
  return rows[0]?.found === true;
}

export interface PutOverride {
  readonly user: string;
  readonly limit: string | null;
  readonly changedBy: string;
}

export async function putOverride(
  client: PoolClient,
  orgId: string,
  { user, limit, changedBy }: PutOverride,
): Promise<void> {
  await client.query(
    `INSERT INTO app.budget_override (org_id, user_id, limit_usd, changed_by) VALUES ($1, $2, $3, $4)
     ON CONFLICT (org_id, user_id) DO UPDATE SET limit_usd = excluded.limit_usd, changed_by = excluded.changed_by, changed_at = now()`,
    [orgId, user, limit, changedBy],
  );
}

export async function deleteOverride(client: PoolClient, orgId: string, user: string): Promise<void> {
  await client.query('DELETE FROM app.budget_override WHERE org_id = $1 AND user_id = $2', [orgId, user]);
}

export interface NoticeRow {
  readonly id: string;
  readonly user_id: string;
  readonly label: string;
  readonly threshold: 50 | 80 | 90 | 100;
  readonly spent_usd: string;
  readonly limit_usd: string;
  readonly start: Date;
  readonly end: Date;
  readonly created_at: Date;
}

/** Newest first, after `after`. */
export async function readNotices(
  client: PoolClient,
  orgId: string,
  after: { createdAt: string; id: string } | null,
  limit: number,
): Promise<NoticeRow[]> {
  const { rows } = await client.query<NoticeRow>(
    `SELECT n.id, n.user_id, ${spenderLabel('n.user_id')} AS label, n.threshold, trim_scale(n.spent_usd)::text AS spent_usd, trim_scale(n.limit_usd)::text AS limit_usd,
       n.cycle_start::timestamp AT TIME ZONE 'UTC' AS start, n.cycle_end::timestamp AT TIME ZONE 'UTC' AS end, n.created_at
     FROM app.budget_notice n WHERE n.org_id = $1 AND ($2::timestamptz IS NULL OR (n.created_at, n.id) < ($2, $3::uuid)) ORDER BY n.created_at DESC, n.id DESC LIMIT $4`,
    [orgId, after?.createdAt ?? null, after?.id ?? null, limit],
  );
  return rows;
}

/** What holds the spending of `user` back at `now`: the organization's budget, or their own. `null`: nothing. */
export async function stopOf(
  client: PoolClient,
  orgId: string,
  user: string,
  now: Date,
): Promise<{ whose: string | null; limitUsd: string; until: Date } | null> {
  const { rows } = await client.query<{ whose: string | null; limit_usd: string; until: Date }>({
    name: 'budget-stop',
    text: `SELECT CASE WHEN s.user_id = '' THEN NULL ELSE ${spenderLabel('s.user_id')} END AS whose, trim_scale(s.limit_usd)::text AS limit_usd, s.until
           FROM app.budget_stop s WHERE s.org_id = $1 AND s.user_id IN ('', $2) AND s.until > $3 ORDER BY s.user_id LIMIT 1`,
    values: [orgId, user, now],
  });
  const [stop] = rows;
  return stop === undefined ? null : { whose: stop.whose, limitUsd: stop.limit_usd, until: stop.until };
}

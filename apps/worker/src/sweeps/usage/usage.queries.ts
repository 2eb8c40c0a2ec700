import type { BudgetStops, LedgerPage, OrgLimits } from '@slipway/contracts/models';
import type { Columns, SqlPool } from '@slipway/db/sql';
import { inOrg } from '@slipway/db/sql';
import { budgetReason } from '@slipway/domain';
import { system } from '../../conversations/conversation.queries.js';

export function ledgerPosition(pool: SqlPool): Promise<number> {
  return system(pool, 'usage roll-up', async (client) => {
    const { rows } = await client.query<Columns<'app.usage_cursor', 'position'>>(
      `SELECT position FROM app.usage_cursor WHERE source = 'llm-gateway'`,
    );
    return rows[0]?.position ?? 0;
  });
}

/**
 * One commit. False: another worker has added them, or the answer to our own commit was lost; nothing was added now.
 */
export async function foldLedger(pool: SqlPool, after: number, page: LedgerPage): Promise<boolean> {
  const { rows } = await pool.query<{ done: boolean }>('SELECT app.fold_ledger($1, $2, $3) AS done', [
    after,
    page.upto,
    JSON.stringify(page.rows),
  ]);
  return rows[0]?.done === true;
}

/** Says that the ledger was read to its end just now, although nothing was new. */
export function noteRead(pool: SqlPool): Promise<void> {
  return system(pool, 'usage roll-up', async (client) => {
    await client.query(`UPDATE app.usage_cursor SET read_at = now() WHERE source = 'llm-gateway'`);
  });
}

/** Those of `orgs` that have a budget; `null`: of all. */
export function orgsWithBudget(pool: SqlPool, orgs: readonly string[] | null): Promise<string[]> {
  return system(pool, 'budgets', async (client) => {
    const { rows } = await client.query<Columns<'app.budget', 'org_id'>>(
      'SELECT org_id FROM app.budget WHERE $1::text[] IS NULL OR org_id = ANY ($1)',
      [orgs],
    );
    return rows.map((row) => row.org_id);
  });
}

export async function settleBudget(pool: SqlPool, orgId: string, now: Date): Promise<void> {
  await pool.query('SELECT app.settle_budget($1, $2)', [orgId, now]);
}

/** Organizations whose stops the gateway does not have as they are now, at most 100. */
export function unacknowledgedOrgs(pool: SqlPool): Promise<string[]> {
  return system(pool, 'budgets', async (client) => {
    const { rows } = await client.query<Columns<'app.budget', 'org_id'>>(
      'SELECT org_id FROM app.budget WHERE told_version <> stops_version LIMIT 100',
    );
    return rows.map((row) => row.org_id);
  });
}

/** Who of an organization is stopped, in the words that they read, and which version of it that is. */
export function stopsOf(pool: SqlPool, orgId: string): Promise<{ version: number; stops: BudgetStops['stops'] }> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{
      version: number;
      user_id: string | null;
      whose: string;
      limit: string;
      until: Date;
    }>(
      `SELECT b.stops_version AS version, s.user_id, coalesce(u.name, d.user_label, s.user_id) AS whose, trim_scale(s.limit_usd)::text AS limit, s.until
       FROM app.budget b LEFT JOIN app.budget_stop s ON s.org_id = b.org_id LEFT JOIN app.user_account u ON u.id = s.user_id
       LEFT JOIN LATERAL (SELECT d.user_label FROM app.usage_day d WHERE d.org_id = s.org_id AND d.user_id = s.user_id AND d.user_label <> '' LIMIT 1) d ON true
       WHERE b.org_id = $1`,
      [orgId],
    );
    return {
      version: rows[0]?.version ?? 0,
      stops: rows.flatMap((row) =>
        row.user_id === null
          ? []
          : [
              {
                user: row.user_id === '' ? null : row.user_id,
                reason: budgetReason({
                  whose: row.user_id === '' ? null : row.whose,
                  limitUsd: row.limit,
                  until: row.until,
                }),
                until: row.until.toISOString(),
              },
            ],
      ),
    };
  });
}

export function markAcknowledged(pool: SqlPool, orgId: string, version: number): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    await client.query('UPDATE app.budget SET told_version = $2 WHERE org_id = $1', [orgId, version]);
  });
}

/** Organizations whose limits the gateway does not have as they are now, at most 100. */
export function unacknowledgedLimits(pool: SqlPool): Promise<string[]> {
  return system(pool, 'budgets', async (client) => {
    const { rows } = await client.query<Columns<'app.budget', 'org_id'>>(
      'SELECT org_id FROM app.budget WHERE told_limits_version <> limits_version LIMIT 100',
    );
    return rows.map((row) => row.org_id);
  });
}

/**
 * What an organization and its people may spend, and which version of it that is. Switched off is no limit for anybody.
 */
export function limitsOf(pool: SqlPool, orgId: string): Promise<{ version: number; limits: OrgLimits }> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{
      version: number;
      enabled: boolean;
      reset_day: number;
      org_limit: string | null;
      member_limit: string | null;
      allow_unpriced: boolean;
      overrides: Array<{ user: string; limitUsd: string | null }>;
    }>(
      `SELECT b.limits_version AS version, b.enabled, b.reset_day, trim_scale(b.org_limit_usd)::text AS org_limit, trim_scale(b.member_limit_usd)::text AS member_limit, b.allow_unpriced,
         (SELECT coalesce(json_agg(json_build_object('user', o.user_id, 'limitUsd', trim_scale(o.limit_usd)::text) ORDER BY o.user_id), '[]') FROM app.budget_override o WHERE o.org_id = b.org_id) AS overrides
       FROM app.budget b WHERE b.org_id = $1`,
      [orgId],
    );
    const [row] = rows;
    if (row === undefined || !row.enabled)
      return {
        version: row?.version ?? 0,
        limits: {
          resetDay: row?.reset_day ?? 1,
          orgLimitUsd: null,
          memberLimitUsd: null,
          overrides: [],
          allowUnpriced: row?.allow_unpriced ?? false,
        },
      };
    return {
      version: row.version,
      limits: {
        resetDay: row.reset_day,
        orgLimitUsd: row.org_limit,
        memberLimitUsd: row.member_limit,
        overrides: row.overrides,
        allowUnpriced: row.allow_unpriced,
      },
    };
  });
}

export function markLimitsAcknowledged(pool: SqlPool, orgId: string, version: number): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    await client.query('UPDATE app.budget SET told_limits_version = $2 WHERE org_id = $1', [orgId, version]);
  });
}

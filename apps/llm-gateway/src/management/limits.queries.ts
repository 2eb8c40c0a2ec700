import type { Columns, PoolClient } from '@slipway/db/sql';
import { durationOf, type Period, periodOf } from './durations.js';

export type LimitedKind = 'org' | 'member' | 'key' | 'conversation';

/** LiteLLM's fields; absent stays, `null` takes away. */
export interface LimitFields {
  readonly max_budget?: number | null | undefined;
  readonly budget_duration?: string | null | undefined;
  readonly rpm_limit?: number | null | undefined;
  readonly tpm_limit?: number | null | undefined;
}

/** What limits one of them, and what it has spent in the cycle of now (for good, where it has none). */
export interface Limits {
  readonly max_budget: number | null;
  readonly budget_duration: string | null;
  readonly budget_reset_at: string | null;
  readonly rpm_limit: number | null;
  readonly tpm_limit: number | null;
  /** USD. */
  readonly spend: number;
}

/** In the transaction of `client`, which sees the organization. Of kind conversation there are no limits a minute. */
export async function setLimits(
  client: PoolClient,
  orgId: string,
  { kind, subject, fields }: { readonly kind: LimitedKind; readonly subject: string; readonly fields: LimitFields },
): Promise<void> {
  if (fields.max_budget === null)
    await client.query('DELETE FROM gateway.budget WHERE org_id = $1 AND kind = $2 AND subject = $3', [
      orgId,
      kind,
      subject,
    ]);
  else if (fields.max_budget !== undefined) {
    const { period, seconds } = periodOf(fields.budget_duration ?? null);
    await client.query(
      `INSERT INTO gateway.budget AS b (org_id, kind, subject, limit_usd, period, seconds) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (org_id, kind, subject) DO UPDATE SET limit_usd = excluded.limit_usd,
         period = CASE WHEN $7 THEN excluded.period ELSE b.period END, seconds = CASE WHEN $7 THEN excluded.seconds ELSE b.seconds END`,
      [orgId, kind, subject, fields.max_budget.toFixed(10), period, seconds, fields.budget_duration !== undefined],
    );
  } else if (fields.budget_duration !== undefined) {
    const { period, seconds } = periodOf(fields.budget_duration);
    await client.query(
      'UPDATE gateway.budget SET period = $4, seconds = $5, anchor = now() WHERE org_id = $1 AND kind = $2 AND subject = $3',
      [orgId, kind, subject, period, seconds],
    );
  }
  if ((fields.rpm_limit === undefined && fields.tpm_limit === undefined) || kind === 'conversation') return;
  await client.query(
    `INSERT INTO gateway.rate_limit AS r (org_id, kind, subject, rpm, tpm) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (org_id, kind, subject) DO UPDATE SET rpm = CASE WHEN $6 THEN excluded.rpm ELSE r.rpm END, tpm = CASE WHEN $7 THEN excluded.tpm ELSE r.tpm END`,
    [
      orgId,
      kind,
      subject,
      fields.rpm_limit ?? null,
      fields.tpm_limit ?? null,
      fields.rpm_limit !== undefined,
      fields.tpm_limit !== undefined,
    ],
  );
  await client.query(
    'DELETE FROM gateway.rate_limit WHERE org_id = $1 AND kind = $2 AND subject = $3 AND rpm IS NULL AND tpm IS NULL',
    [orgId, kind, subject],
  );
}

export interface LimitsRead {
  readonly kind: LimitedKind;
  readonly subject: string;
  readonly at: Date;
  readonly money?: { kind: LimitedKind; subject: string } | undefined;
}

/** @param money the kind and subject of its budget, where that is not of the same as its limits a minute. */
export async function readLimits(
  client: PoolClient,
  orgId: string,
  { kind, subject, at, money = { kind, subject } }: LimitsRead,
): Promise<Limits> {
  const { rows } = await client.query<
    Columns<'gateway.budget', 'limit_usd' | 'seconds'> &
      Columns<'gateway.rate_limit', 'rpm' | 'tpm'> & {
        period: Period['period'] | null;
        ends: Date | null;
        spend: string;
      }
  >(
    `SELECT b.limit_usd, b.period, b.seconds, c.ends, r.rpm, r.tpm,
       gateway.spent_of($1, $4, $5, coalesce(c.starts, '1970-01-01'), coalesce(c.ends, '9999-01-01')) / 10000000000.0 AS spend
     FROM (SELECT 1) one
     LEFT JOIN gateway.budget b ON b.org_id = $1 AND b.kind = $4 AND b.subject = $5
     LEFT JOIN LATERAL gateway.budget_cycle(b.period, b.reset_day, b.seconds, b.anchor, $6) c ON b.org_id IS NOT NULL
     LEFT JOIN gateway.rate_limit r ON r.org_id = $1 AND r.kind = $2 AND r.subject = $3`,
    [orgId, kind, subject, money.kind, money.subject, at],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a row of one is missing');
  return {
    max_budget: row.limit_usd === null ? null : Number(row.limit_usd),
    budget_duration: row.period === null ? null : durationOf({ period: row.period, seconds: row.seconds }),
    budget_reset_at: row.period === null || row.period === 'total' || row.ends === null ? null : row.ends.toISOString(),
    rpm_limit: row.rpm,
    tpm_limit: row.tpm,
    spend: Number(row.spend),
  };
}

/** Takes away all that limits them. */
export async function dropLimits(
  client: PoolClient,
  orgId: string,
  kind: LimitedKind,
  subjects: readonly string[],
): Promise<void> {
  await client.query('DELETE FROM gateway.budget WHERE org_id = $1 AND kind = $2 AND subject = ANY ($3)', [
    orgId,
    kind,
    subjects,
  ]);
  await client.query('DELETE FROM gateway.rate_limit WHERE org_id = $1 AND kind = $2 AND subject = ANY ($3)', [
    orgId,
    kind,
    subjects,
  ]);
}

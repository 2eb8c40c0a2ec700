import { MAX_USAGE_ROWS, type UsageDimension } from '@slipway/contracts/spending';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';

/** `whose` of `SELECT ${PERSON_LABEL} …` with `id` as the user and `label` as what is known without their account. */
export const userLabel = (id: string, label: string): string =>
  `coalesce((SELECT u.name FROM app.user_account u WHERE u.id = ${id}), (SELECT a.name FROM app.service_account a WHERE a.id = ${id} AND a.org_id = $1), nullif(${label}, ''), ${id})`;

export interface UsageFilter {
  readonly from: string;
  readonly to: string;
  readonly groupBy: readonly UsageDimension[];
  readonly user: string | null;
  readonly repository: string | null;
  readonly model: string | null;
}

export interface UsageSums {
  readonly requests: number;
  readonly failed: number;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  /** Decimal without trailing zeros. */
  readonly cost_usd: string;
  readonly unpriced: number;
}

export interface UsageGroup extends UsageSums {
  readonly day: string | null;
  readonly user_id: string | null;
  readonly user_label: string | null;
  readonly repository: string | null;
  readonly model: string | null;
  readonly conversation_id: string | null;
  readonly conversation_title: string | null;
}

/** Column of a dimension: no word of a caller gets into the text of a query. */
const COLUMN: Readonly<Record<UsageDimension, string>> = {
  day: 'd.day',
  user: 'd.user_id',
  repository: 'd.repository',
  model: 'd.model',
  conversation: 'd.conversation_id',
};
const SUMS = `coalesce(sum(d.requests), 0)::bigint AS requests, coalesce(sum(d.failed), 0)::bigint AS failed, coalesce(sum(d.prompt_tokens), 0)::bigint AS prompt_tokens,
  coalesce(sum(d.cached_tokens), 0)::bigint AS cached_tokens, coalesce(sum(d.completion_tokens), 0)::bigint AS completion_tokens,
  trim_scale(coalesce(sum(d.cost_usd), 0))::text AS cost_usd, coalesce(sum(d.unpriced), 0)::bigint AS unpriced`;
/** What was counted before conversations were. */
const NO_CONVERSATION = '00000000-0000-0000-0000-000000000000';
/** Both come to the same sums (`app.fold_ledger`); the one with conversations is larger. */
const where = (
  byConversation: boolean,
): string => `FROM app.${byConversation ? 'usage_conversation' : 'usage_day'} d WHERE d.org_id = $1 AND d.day BETWEEN $2 AND $3 AND ($4::text IS NULL OR d.user_id = $4)
  AND ($5::text IS NULL OR d.repository = $5) AND ($6::text IS NULL OR d.model = $6)`;

/** One row more than `MAX_USAGE_ROWS` when there are more. */
export function readUsage(
  pool: SqlPool,
  orgId: string,
  filter: UsageFilter,
): Promise<{ groups: UsageGroup[]; total: UsageSums; asOf: Date | null }> {
  const values = [orgId, filter.from, filter.to, filter.user, filter.repository, filter.model];
  const has = (dimension: UsageDimension): boolean => filter.groupBy.includes(dimension);
  const from = where(has('conversation'));
  const columns = filter.groupBy.map((dimension) => COLUMN[dimension]);
  return inOrg(pool, orgId, async (client) => {
    const total = await client.query<UsageSums>(`SELECT ${SUMS} ${from}`, values);
    const groups =
      columns.length === 0
        ? []
        : (
            await client.query<UsageGroup>(
              `SELECT g.*, ${has('user') ? userLabel('g.user_id', 'g.seen_label') : 'NULL'} AS user_label,
                 (SELECT c.title FROM app.conversation c WHERE c.org_id = $1 AND c.id = g.conversation_id) AS conversation_title FROM (
                 SELECT ${has('day') ? `to_char(d.day, 'YYYY-MM-DD')` : 'NULL'} AS day, ${has('user') ? 'd.user_id' : 'NULL'} AS user_id, max(d.user_label) AS seen_label,
                   ${has('repository') ? `nullif(d.repository, '')` : 'NULL'} AS repository, ${has('model') ? 'd.model' : 'NULL'} AS model,
                   ${has('conversation') ? `nullif(d.conversation_id, '${NO_CONVERSATION}')` : 'NULL::uuid'} AS conversation_id, ${SUMS}
                 ${from} GROUP BY ${columns.join(', ')}
                 ORDER BY ${has('day') ? 'd.day, ' : ''}sum(d.cost_usd) DESC, ${columns.join(', ')} LIMIT ${MAX_USAGE_ROWS + 1}) g`,
              values,
            )
          ).rows;
    const [sums] = total.rows;
    if (sums === undefined) throw new Error('an aggregate without a row');
    return { groups, total: sums, asOf: await countedAt(client) };
  });
}

/** When the ledger was last read to its end; `null`: never yet. */
export async function countedAt(client: PoolClient): Promise<Date | null> {
  const { rows } = await client.query<Columns<'app.usage_cursor', 'read_at'>>(
    `SELECT read_at FROM app.usage_cursor WHERE source = 'llm-gateway'`,
  );
  return rows[0]?.read_at ?? null;
}

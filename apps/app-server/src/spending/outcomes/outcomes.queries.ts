import { MAX_OUTCOME_ROWS, type OutcomeDimension } from '@slipway/contracts/spending';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { countedAt, userLabel } from '../usage/usage.queries.js';

export interface OutcomesFilter {
  /** Days, UTC, both included. */
  readonly from: string;
  readonly to: string;
  readonly groupBy: readonly OutcomeDimension[];
  readonly user: string | null;
  readonly repository: string | null;
  readonly model: string | null;
  readonly source: string | null;
}

/** Counts and sums of a group. Decimals without trailing zeros, times in milliseconds. */
export interface OutcomeSums {
  readonly conversations: number;
  readonly turns: number;
  readonly failed_turns: number;
  readonly published: number;
  readonly open: number;
  readonly closed: number;
  readonly merged: number;
  readonly human_none: number;
  readonly human_some: number;
  readonly human_unknown: number;
  readonly reverted: AfterSums;
  readonly edited: AfterSums;
  readonly either: AfterSums;
  readonly cost: string;
  readonly agent: string;
  readonly retries: string;
  readonly failed_turns_cost: string;
  readonly reverted_cost: string;
  readonly start_wait: WaitSums;
  readonly approval_wait: WaitSums;
  readonly review_wait: WaitSums;
}
export interface AfterSums {
  readonly settled: number;
  readonly found: number;
  readonly unknown: number;
  readonly pending: number;
  readonly early: number;
}
export interface WaitSums {
  readonly count: number;
  readonly total: number;
  readonly median: number | null;
  readonly p90: number | null;
}
export interface OutcomeGroup extends OutcomeSums {
  readonly day: string | null;
  readonly user_id: string | null;
  readonly user_label: string | null;
  readonly repository: string | null;
  readonly model: string | null;
  readonly source: string | null;
}

/** As `afterOf` of libs/domain. */
const after = (found: string, read: string): string => `CASE WHEN o.state <> 'merged' THEN NULL
  WHEN o.watched_days < 14 AND o.next_at IS NOT NULL THEN CASE WHEN ${found} IS NULL THEN 'pending' ELSE 'pending-yes' END
  WHEN ${found} IS NOT NULL THEN 'yes' WHEN o.watched_days >= 14 AND ${read} THEN 'no' ELSE 'unknown' END`;

/** A conversation's cost by parts; they come to its cost, also while one of them is counted before the other. */
const PARTS = `least(m.failed_calls_usd, m.cost_usd) AS retries, least(m.failed_turns_usd, m.cost_usd - least(m.failed_calls_usd, m.cost_usd)) AS failed_turns_cost,
  m.cost_usd - least(m.failed_calls_usd, m.cost_usd) - least(m.failed_turns_usd, m.cost_usd - least(m.failed_calls_usd, m.cost_usd)) AS agent`;
/** As `shareOf` of libs/domain: equal, and the first has what does not divide. */
const share = (part: string): string =>
  `CASE WHEN l.n > 0 THEN trunc(m.${part} / l.k, 10) ELSE m.${part} - trunc(m.${part} / l.k, 10) * (l.k - 1) END`;

/**
 * Work items of the span as `workItems` of libs/domain makes them: a pull request with its shares of its conversations,
 * or a conversation without one. Each fact of an item is a row here, so that one grouping sums them all. `$1`
 * organization, `$2`, `$3` days, `$4` to `$7` user, repository, model, source.
 */
const FACTS = `
  pulls AS MATERIALIZED (
    SELECT o.id, o.begun_at, (o.begun_at AT TIME ZONE 'UTC')::date AS day, coalesce(m.user_id, '') AS user_id, coalesce(m.user_label, '') AS user_label,
      lower(o.host || '/' || o.repository) AS repository, coalesce(m.model, '') AS model, m.source, o.state,
      CASE WHEN o.first_review_at IS NOT NULL AND o.ready_at IS NOT NULL THEN greatest(0, (extract(epoch FROM o.first_review_at - o.ready_at) * 1000)::bigint) END AS review_ms,
      CASE WHEN o.state = 'merged' THEN CASE WHEN o.human_commits IS NULL THEN 'unknown' WHEN o.human_commits = 0 THEN 'none' ELSE 'some' END END AS human,
      ${after('o.reverted_at', 'o.reverts_read')} AS reverted, ${after('o.edited_at', 'o.edits_read')} AS edited,
      ${after('coalesce(o.reverted_at, o.edited_at)', '(o.reverts_read AND o.edits_read)')} AS either
    FROM app.pull_request_outcome o LEFT JOIN app.conversation_outcome m ON m.org_id = o.org_id AND m.conversation_id = o.conversation_id
    WHERE o.org_id = $1 AND o.begun_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND o.begun_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
      AND ($4::text IS NULL OR m.user_id = $4) AND ($5::text IS NULL OR lower(o.host || '/' || o.repository) = lower($5))
      AND ($6::text IS NULL OR m.model = $6) AND ($7::text IS NULL OR m.source = $7)
  ), links AS MATERIALIZED (
    SELECT p.id, w.conversation_id, l.k, l.n FROM pulls p JOIN app.pull_request_work w ON w.org_id = $1 AND w.pull_request_id = p.id
    CROSS JOIN LATERAL (
      SELECT count(*) AS k, count(*) FILTER (WHERE (b.begun_at, b.id) < (p.begun_at, p.id)) AS n
      FROM app.pull_request_work s JOIN app.pull_request_outcome b ON b.org_id = $1 AND b.id = s.pull_request_id WHERE s.org_id = $1 AND s.conversation_id = w.conversation_id) l
  ), measures AS (
    SELECT m.conversation_id, m.turns, m.failed_turns, m.start_wait_ms, m.approval_waits_ms, ${PARTS} FROM app.conversation_outcome m WHERE m.org_id = $1
      AND m.conversation_id IN (SELECT l.conversation_id FROM links l)
  ), shares AS MATERIALIZED (
    SELECT p.day, p.user_id, p.user_label, p.repository, p.model, p.source, l.n = 0 AS counts, p.reverted IN ('yes', 'pending-yes') IS TRUE AS is_reverted, m.turns, m.failed_turns,
      m.start_wait_ms, m.approval_waits_ms, ${share('retries')} AS retries, ${share('failed_turns_cost')} AS failed_turns_cost, ${share('agent')} AS agent
    FROM links l JOIN pulls p ON p.id = l.id JOIN measures m ON m.conversation_id = l.conversation_id
    UNION ALL
    SELECT (m.created_at AT TIME ZONE 'UTC')::date, m.user_id, m.user_label, m.repository, m.model, m.source, true, false, m.turns, m.failed_turns, m.start_wait_ms, m.approval_waits_ms, ${PARTS}
    FROM app.conversation_outcome m
    WHERE m.org_id = $1 AND m.created_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND m.created_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
      AND ($4::text IS NULL OR m.user_id = $4) AND ($5::text IS NULL OR m.repository = lower($5)) AND ($6::text IS NULL OR m.model = $6) AND ($7::text IS NULL OR m.source = $7)
      AND NOT EXISTS (SELECT 1 FROM app.pull_request_work w WHERE w.org_id = $1 AND w.conversation_id = m.conversation_id)
  ), facts AS (
    SELECT s.day, s.user_id, s.user_label, s.repository, s.model, s.source, s.counts, CASE WHEN s.counts THEN s.turns END AS turns, CASE WHEN s.counts THEN s.failed_turns END AS failed_turns,
      CASE WHEN s.counts THEN s.start_wait_ms END AS start_ms, NULL::bigint AS approval_ms, NULL::bigint AS review_ms, NULL::text AS state, NULL::text AS human, NULL::text AS reverted, NULL::text AS edited, NULL::text AS either,
      s.retries, s.failed_turns_cost, CASE WHEN s.is_reverted THEN 0 ELSE s.agent END AS agent, CASE WHEN s.is_reverted THEN s.agent ELSE 0 END AS reverted_cost FROM shares s
    UNION ALL
    SELECT p.day, p.user_id, p.user_label, p.repository, p.model, p.source, false, NULL, NULL, NULL, NULL, p.review_ms, p.state, p.human, p.reverted, p.edited, p.either, NULL, NULL, NULL, NULL FROM pulls p
    UNION ALL
    SELECT s.day, s.user_id, s.user_label, s.repository, s.model, s.source, false, NULL, NULL, NULL, w.ms, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
    FROM shares s CROSS JOIN LATERAL unnest(s.approval_waits_ms) w(ms) WHERE s.counts
  )`;

const count = (condition: string): string => `count(*) FILTER (WHERE ${condition})::int`;
const afterSums = (
  column: string,
): string => `json_build_object('settled', ${count(`f.${column} IN ('yes', 'no')`)}, 'found', ${count(`f.${column} = 'yes'`)},
  'unknown', ${count(`f.${column} = 'unknown'`)}, 'pending', ${count(`f.${column} IN ('pending', 'pending-yes')`)}, 'early', ${count(`f.${column} = 'pending-yes'`)})`;
const waitSums = (
  column: string,
): string => `json_build_object('count', count(f.${column})::int, 'total', coalesce(sum(f.${column}), 0),
  'median', percentile_disc(0.5) WITHIN GROUP (ORDER BY f.${column}), 'p90', percentile_disc(0.9) WITHIN GROUP (ORDER BY f.${column}))`;
const sum = (column: string): string => `trim_scale(coalesce(sum(f.${column}), 0))::text`;
const COST = 'coalesce(sum(f.retries + f.failed_turns_cost + f.agent + f.reverted_cost), 0)';
const SUMS = `${count('f.counts')} AS conversations, coalesce(sum(f.turns), 0)::int AS turns, coalesce(sum(f.failed_turns), 0)::int AS failed_turns, count(f.state)::int AS published,
  ${count(`f.state = 'open'`)} AS open, ${count(`f.state = 'closed'`)} AS closed, ${count(`f.state = 'merged'`)} AS merged,
  ${count(`f.human = 'none'`)} AS human_none, ${count(`f.human = 'some'`)} AS human_some, ${count(`f.human = 'unknown'`)} AS human_unknown,
  ${afterSums('reverted')} AS reverted, ${afterSums('edited')} AS edited, ${afterSums('either')} AS either, trim_scale(${COST})::text AS cost, ${sum('agent')} AS agent, ${sum('retries')} AS retries,
  ${sum('failed_turns_cost')} AS failed_turns_cost, ${sum('reverted_cost')} AS reverted_cost,
  ${waitSums('start_ms')} AS start_wait, ${waitSums('approval_ms')} AS approval_wait, ${waitSums('review_ms')} AS review_wait`;

/** Column of a dimension: no word of a caller gets into the text of a query. */
const COLUMN: Readonly<Record<OutcomeDimension, string>> = {
  day: 'f.day',
  user: 'f.user_id',
  repository: 'f.repository',
  model: 'f.model',
  source: 'f.source',
};

/** The total, and one group more than `MAX_OUTCOME_ROWS` when there are more. */
export function readOutcomes(
  pool: SqlPool,
  orgId: string,
  filter: OutcomesFilter,
): Promise<{ groups: OutcomeGroup[]; total: OutcomeSums; asOf: Date | null }> {
  const values = [orgId, filter.from, filter.to, filter.user, filter.repository, filter.model, filter.source];
  const has = (dimension: OutcomeDimension): boolean => filter.groupBy.includes(dimension);
  const columns = filter.groupBy.map((dimension) => COLUMN[dimension]);
  const [first = ''] = columns;
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<OutcomeGroup & { is_total: boolean }>(
      `WITH ${FACTS}
       SELECT g.*, ${has('user') ? userLabel('g.user_id', 'g.seen_label') : 'NULL'} AS user_label FROM (
         SELECT grouping(${first}) = 1 AS is_total, ${has('day') ? `to_char(f.day, 'YYYY-MM-DD')` : 'NULL'} AS day, ${has('user') ? 'f.user_id' : 'NULL'} AS user_id, max(f.user_label) AS seen_label,
           ${has('repository') ? `nullif(f.repository, '')` : 'NULL'} AS repository, ${has('model') ? 'f.model' : 'NULL'} AS model, ${has('source') ? 'f.source' : 'NULL'} AS source, ${SUMS}
         FROM facts f GROUP BY GROUPING SETS ((${columns.join(', ')}), ())
         ORDER BY is_total DESC, ${has('day') ? 'f.day, ' : ''}${COST} DESC, ${columns.join(', ')} LIMIT ${MAX_OUTCOME_ROWS + 2}) g`,
      values,
    );
    const total = rows.find(({ is_total }) => is_total);
    if (total === undefined) throw new Error('an aggregate without a row');
    return { groups: rows.filter(({ is_total }) => !is_total), total, asOf: await countedAt(client) };
  });
}

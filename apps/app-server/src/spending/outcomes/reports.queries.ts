import { MAX_OUTCOME_ROWS } from '@slipway/contracts/spending';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { countedAt, userLabel } from '../usage/usage.queries.js';

export interface UserReport {
  readonly user_id: string;
  readonly user_label: string;
  readonly conversations: number;
  readonly first_at: Date | null;
  readonly last_at: Date | null;
  readonly month_usd: string;
  readonly year_usd: string;
  readonly life_usd: string;
  readonly published: number;
  readonly merged: number;
}

/** One user more than `MAX_OUTCOME_ROWS` when there are more. @param now of which month and year. */
export function readUserReports(
  pool: SqlPool,
  orgId: string,
  now: Date,
): Promise<{ users: UserReport[]; asOf: Date | null }> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<UserReport>(
      `WITH begun AS (
         SELECT m.user_id, max(m.user_label) AS label, count(*)::int AS conversations, min(m.created_at) AS first_at, max(m.created_at) AS last_at
         FROM app.conversation_outcome m WHERE m.org_id = $1 GROUP BY 1
       ), spent AS (
         SELECT d.user_id, max(d.user_label) AS label, sum(d.cost_usd) FILTER (WHERE d.day >= date_trunc('month', $2::date)) AS month_usd,
           sum(d.cost_usd) FILTER (WHERE d.day >= date_trunc('year', $2::date)) AS year_usd, sum(d.cost_usd) AS life_usd
         FROM app.usage_day d WHERE d.org_id = $1 GROUP BY 1
       ), pulls AS (
         SELECT m.user_id, count(*)::int AS published, count(*) FILTER (WHERE o.state = 'merged')::int AS merged
         FROM app.pull_request_outcome o JOIN app.conversation_outcome m ON m.org_id = o.org_id AND m.conversation_id = o.conversation_id WHERE o.org_id = $1 GROUP BY 1
       )
       SELECT g.*, ${userLabel('g.user_id', 'g.label')} AS user_label FROM (
         SELECT user_id, coalesce(nullif(b.label, ''), s.label, '') AS label, coalesce(b.conversations, 0) AS conversations, b.first_at, b.last_at, trim_scale(coalesce(s.month_usd, 0))::text AS month_usd,
           trim_scale(coalesce(s.year_usd, 0))::text AS year_usd, trim_scale(coalesce(s.life_usd, 0))::text AS life_usd, coalesce(p.published, 0) AS published, coalesce(p.merged, 0) AS merged
         FROM begun b FULL JOIN spent s USING (user_id) LEFT JOIN pulls p USING (user_id)
         ORDER BY coalesce(s.year_usd, 0) DESC, user_id LIMIT ${MAX_OUTCOME_ROWS + 1}) g`,
      [orgId, now.toISOString().slice(0, 10)],
    );
    return { users: rows, asOf: await countedAt(client) };
  });
}

export interface ConversationReport {
  readonly conversation_id: string;
  readonly title: string | null;
  readonly user_id: string;
  readonly user_label: string;
  readonly repository: string | null;
  readonly model: string;
  readonly source: string | null;
  readonly created_at: Date;
  readonly duration_ms: number | null;
  readonly turns: number;
  readonly failed_turns: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_usd: string;
  readonly published: number;
  readonly merged: number;
}

/** One more than `MAX_OUTCOME_ROWS` when there are more. @param span days, UTC, both included. */
export function readConversationReports(
  pool: SqlPool,
  orgId: string,
  span: { readonly from: string; readonly to: string },
): Promise<{ conversations: ConversationReport[]; asOf: Date | null }> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<ConversationReport>(
      `SELECT m.conversation_id, c.title, m.user_id, ${userLabel('m.user_id', 'm.user_label')} AS user_label, nullif(m.repository, '') AS repository, m.model, m.source, m.created_at,
         greatest(0, (extract(epoch FROM m.last_at - m.created_at) * 1000)::bigint) AS duration_ms, m.turns, m.failed_turns, m.prompt_tokens, m.completion_tokens, trim_scale(m.cost_usd)::text AS cost_usd,
         p.published, p.merged
       FROM (SELECT * FROM app.conversation_outcome WHERE org_id = $1 AND created_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND created_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
         ORDER BY cost_usd DESC, conversation_id LIMIT ${MAX_OUTCOME_ROWS + 1}) m
       LEFT JOIN app.conversation c ON c.org_id = m.org_id AND c.id = m.conversation_id
       CROSS JOIN LATERAL (SELECT count(*)::int AS published, count(*) FILTER (WHERE o.state = 'merged')::int AS merged
         FROM app.pull_request_work w JOIN app.pull_request_outcome o ON o.org_id = $1 AND o.id = w.pull_request_id WHERE w.org_id = $1 AND w.conversation_id = m.conversation_id) p
       ORDER BY m.cost_usd DESC, m.conversation_id`,
      [orgId, span.from, span.to],
    );
    return { conversations: rows, asOf: await countedAt(client) };
  });
}

import {
  type ConversationPullRequest,
  type ConversationSummary,
  DESK_DAYS,
  type DeskConversation,
  type DeskEgress,
  MAX_ASKED_LENGTH,
  type SecurityRisk,
} from '@slipway/contracts/conversations';
import { EGRESS_REQUEST_HOURS } from '@slipway/contracts/sandboxes';
import type { PoolClient } from '@slipway/db/sql';

/** Conversations that one look considers: the newest. What is asked of them is found in their logs' ends. */
export const MAX_CONSIDERED = 1_000;
/** How far back in a log what waits, was said or was answered may be. Events. */
const TAIL = 300;

interface FactsRow {
  readonly summary: string;
  readonly pull: ConversationPullRequest | null;
  readonly said_seq: number | null;
  readonly since: Date;
  readonly people: number;
  readonly action_id: string | null;
  readonly action_tool: string | null;
  readonly action_text: string | null;
  readonly actions: number;
  readonly risks: Array<SecurityRisk | null> | null;
  readonly egress: DeskEgress | null;
  readonly doing_tool: string | null;
  readonly doing_text: string | null;
  readonly word_seq: number | null;
  readonly word_kind: string | null;
  readonly word_text: string | null;
  readonly answered: { readonly by: string | null; readonly accepted: boolean; readonly at: string } | null;
}

export interface Considered {
  /** Of these alone, whatever their age; absent: the newest `MAX_CONSIDERED` of `DESK_DAYS`. */
  readonly ids?: readonly string[];
  /** Of this user or service account alone. */
  readonly owner?: string | undefined;
}

/** The newest first. */
export async function readDesk(
  client: PoolClient,
  orgId: string,
  { ids, owner }: Considered,
): Promise<DeskConversation[]> {
  const { rows } = await client.query<FactsRow>({
    name: 'read-desk',
    text: DESK,
    values: [orgId, ids ?? null, owner ?? null, DESK_DAYS, MAX_CONSIDERED],
  });
  return rows.map(toConversation);
}

/** Conversations of an organization that had events lately, with the heads of their logs. @param seconds how lately. */
export async function readRecentHeads(
  client: PoolClient,
  orgId: string,
  seconds: number,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ id: string; head: number }>({
    name: 'desk-recent-heads',
    text: `SELECT id, head FROM app.conversation WHERE org_id = $1 AND updated_at > now() - make_interval(secs => $2)
           ORDER BY updated_at DESC, id DESC LIMIT $3`,
    values: [orgId, seconds, MAX_CONSIDERED],
  });
  return new Map(rows.map(({ id, head }) => [id, head]));
}

function toConversation(row: FactsRow): DeskConversation {
  const { readSeq: _, pinned: _pinned, ...summary } = JSON.parse(row.summary) as ConversationSummary;
  return {
    ...summary,
    pullRequest: row.pull,
    approval:
      row.action_id === null
        ? null
        : {
            actionId: row.action_id,
            tool: row.action_tool ?? '',
            text: row.action_text ?? '',
            risk: worst(row.risks ?? []),
            actions: row.actions,
          },
    egress: row.egress,
    doing: row.doing_tool === null ? null : { tool: row.doing_tool, text: row.doing_text ?? '' },
    lastWord:
      row.word_seq === null
        ? null
        : {
            seq: row.word_seq,
            kind: row.word_kind === 'ActionEvent' ? 'finish' : 'message',
            text: row.word_text ?? '',
          },
    saidSeq: row.said_seq ?? 0,
    since: row.since.toISOString(),
    people: row.people,
    answered: row.answered === null ? null : { ...row.answered, by: row.answered.by ?? '' },
  };
}

/** An unknown risk weighs like a medium one, and a known high one more. */
const WEIGHT: Readonly<Record<SecurityRisk, number>> = { LOW: 0, UNKNOWN: 1, MEDIUM: 2, HIGH: 3 };
function worst(risks: ReadonlyArray<SecurityRisk | null>): SecurityRisk {
  const known = risks.map((risk) => risk ?? 'UNKNOWN');
  return known.reduce((found, risk) => (WEIGHT[risk] > WEIGHT[found] ? risk : found), known[0] ?? 'UNKNOWN');
}

const ACTION_TEXT = `left(coalesce(%->'action'->>'command', %->'action'->>'path', %->'action'->>'url', %->'action'->>'query', ''), ${MAX_ASKED_LENGTH})`;
const actionText = (event: string): string => ACTION_TEXT.replaceAll('%', event);

/**
 * What waits is found as `pendingActions` of libs/domain finds it: actions at the end of the log without a result. Only
 * the end of what an agent said is taken: the question stands there.
 */
const DESK = `
WITH near AS (
  SELECT c.id FROM app.conversation c
  WHERE c.org_id = $1 AND c.deleted_at IS NULL AND c.archived_at IS NULL AND ($2::uuid[] IS NULL OR c.id = ANY ($2)) AND ($3::text IS NULL OR c.created_by = $3)
    AND ($2::uuid[] IS NOT NULL OR c.updated_at > now() - make_interval(days => $4))
  ORDER BY c.updated_at DESC, c.id DESC LIMIT $5
)
SELECT app.conversation_summary(c) AS summary,
  (SELECT jsonb_build_object('number', p.number, 'url', p.url, 'state', p.state, 'draft', p.draft, 'checks', p.checks ->> 'state',
     'review', p.review, 'conflicts', p.conflicts) FROM app.pull_request p WHERE p.org_id = $1 AND p.conversation_id = c.id ORDER BY p.created_at DESC LIMIT 1) AS pull,
  (SELECT jsonb_build_object('requestId', r.id, 'host', r.host, 'port', r.port, 'firstTime', r.first_time, 'requests', count(*) OVER (),
     'at', to_char(r.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
     || CASE WHEN r.use IS NULL THEN '{}' ELSE jsonb_build_object('use',
       jsonb_build_object('name', r.use->'credential'->'name', 'method', r.use->'method', 'path', r.use->'path')) END FROM (
     SELECT id, host, port, first_time, created_at, NULL::jsonb AS use FROM app.egress_request WHERE org_id = $1 AND conversation_id = c.id AND state = 'waiting'
     UNION ALL
     SELECT id, host, port, first_time, created_at, use FROM app.credential_request WHERE org_id = $1 AND conversation_id = c.id AND state = 'waiting') r
   WHERE r.created_at > now() - interval '${EGRESS_REQUEST_HOURS} hours'
   ORDER BY r.created_at, r.id LIMIT 1) AS egress,
  said.seq AS said_seq, coalesce(asked.at, said.created_at, c.updated_at) AS since,
  (SELECT count(DISTINCT u)::int FROM (SELECT c.created_by AS u UNION SELECT m.created_by FROM app.inbox_message m
     WHERE m.org_id = $1 AND m.conversation_id = c.id AND m.state = 'queued' AND m.notice IS NULL) people) AS people,
  asked.id AS action_id, asked.tool AS action_tool, asked.text AS action_text, coalesce(asked.actions, 0) AS actions, asked.risks,
  doing.tool AS doing_tool, doing.text AS doing_text, word.seq AS word_seq, word.kind AS word_kind, word.text AS word_text, answered.answered
FROM near JOIN app.conversation c ON c.org_id = $1 AND c.id = near.id
LEFT JOIN LATERAL (
  SELECT e.seq, e.created_at FROM app.event e WHERE e.org_id = $1 AND e.conversation_id = c.id AND e.seq > c.head - ${TAIL}
    AND e.kind IN ('MessageEvent', 'ActionEvent', 'ObservationEvent', 'UserRejectObservation', 'AgentErrorEvent', 'ConversationErrorEvent')
  ORDER BY e.seq DESC LIMIT 1) said ON true
LEFT JOIN LATERAL (
  SELECT count(*)::int AS actions, min(a.created_at) AS at, (array_agg(a.event_id ORDER BY a.seq))[1] AS id,
    (array_agg(a.event->>'tool_name' ORDER BY a.seq))[1] AS tool, (array_agg(${actionText('a.event')} ORDER BY a.seq))[1] AS text,
    array_agg(a.event->>'security_risk') AS risks
  FROM app.event a WHERE a.org_id = $1 AND a.conversation_id = c.id AND a.seq > c.head - ${TAIL} AND a.kind = 'ActionEvent'
    AND NOT EXISTS (SELECT 1 FROM app.event o WHERE o.org_id = $1 AND o.conversation_id = c.id AND o.seq > a.seq
      AND (o.kind IN ('ObservationEvent', 'UserRejectObservation') AND o.event->>'action_id' = a.event_id::text
        OR o.kind = 'AgentErrorEvent' AND o.event->>'tool_call_id' = a.event->>'tool_call_id'))
) asked ON c.execution_status = 'waiting_for_confirmation'
LEFT JOIN LATERAL (
  SELECT e.event->>'tool_name' AS tool, ${actionText('e.event')} AS text FROM app.event e
  WHERE e.org_id = $1 AND e.conversation_id = c.id AND e.seq > c.head - ${TAIL} AND e.kind = 'ActionEvent' ORDER BY e.seq DESC LIMIT 1
) doing ON c.status = 'working'
LEFT JOIN LATERAL (
  SELECT e.seq, e.kind, right(CASE e.kind WHEN 'ActionEvent' THEN e.event->'action'->>'message' ELSE (SELECT string_agg(t->>'text', ' ')
      FROM json_array_elements(CASE json_typeof(e.event->'llm_message'->'content') WHEN 'array' THEN e.event->'llm_message'->'content' ELSE '[]' END) t) END, ${MAX_ASKED_LENGTH}) AS text
  FROM app.event e WHERE e.org_id = $1 AND e.conversation_id = c.id AND e.seq > c.head - ${TAIL}
    AND (e.kind = 'MessageEvent' AND e.event->>'source' = 'agent' OR e.kind = 'ActionEvent' AND e.event->>'tool_name' = 'finish')
  ORDER BY e.seq DESC LIMIT 1) word ON c.status IN ('waiting', 'finished')
LEFT JOIN LATERAL (
  SELECT jsonb_build_object('by', left(e.event->'value'->>'by', 200), 'accepted', e.event->'value'->>'accepted' = 'true',
    'at', to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS answered
  FROM app.event e WHERE e.org_id = $1 AND e.conversation_id = c.id AND e.seq > c.head - ${TAIL}
    AND e.kind = 'ConversationStateUpdateEvent' AND e.event->>'key' = 'confirmation'
  ORDER BY e.seq DESC LIMIT 1) answered ON $2::uuid[] IS NOT NULL
ORDER BY c.updated_at DESC, c.id DESC`;

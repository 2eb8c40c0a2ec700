import type { EventKind } from '@slipway/contracts/events';
import type { PoolClient } from 'pg';
import type { Columns } from '../sql/columns.js';

/** Pieces of an event as JSON; what its kind does not have is `null`. */
export interface TraceRow {
  readonly seq: number;
  readonly epoch: number;
  readonly event_id: string;
  readonly kind: EventKind;
  readonly at: unknown;
  readonly stored_at: Date;
  /** Written by a sandbox, by its own clock. */
  readonly from_sandbox: boolean;
  readonly source: unknown;
  readonly tool: unknown;
  readonly tool_call_id: unknown;
  readonly action_id: unknown;
  readonly failed: unknown;
  readonly code: unknown;
  /** Beginning of a JSON string, cut anywhere. */
  readonly title: string | null;
  readonly sent_at: Date | null;
  readonly trace_id: string | null;
  readonly key: unknown;
  readonly value: unknown;
}

/** JSON text of a message's beginning that is read for its title. Characters. */
const TITLE_JSON = 400;

/**
 * JSON that Postgres can read. Its functions refuse the escapes of NUL and of half a surrogate pair, which what tools
 * print has: `\u` becomes `/u`, and `\\u` becomes `\/u`, a slash too.
 */
const readable = (column: string): string => `replace(${column}::text, '\\u', '/u')::json`;

/** A sandbox writes what it likes: a piece that is longer than any of its kind does not leave the database. Bytes. */
const within = (bytes: number, piece: string): string =>
  `CASE WHEN octet_length((${piece})::text) <= ${bytes} THEN ${piece} END`;
/** Longest value of a state update; a start step has up to 4,000 characters of words. Bytes. */
const MAX_VALUE = 20_000;

/** Of what was printed or written nothing leaves the database but the first words of a message. */
const VALUE = `CASE x.key::text
    WHEN '"execution_status"' THEN x.value
    WHEN '"start_task"' THEN x.value
    WHEN '"confirmation"' THEN json_build_object('accepted', x.value->'accepted', 'action_ids', x.value->'action_ids')
    WHEN '"stats"' THEN x.value->'latest'
    WHEN '"sub_agent"' THEN json_build_object('task_id', x.value->'task_id', 'action_id', x.value->'action_id', 'subagent', x.value->'subagent',
      'id', x.value->'event'->'id', 'kind', x.value->'event'->'kind', 'timestamp', x.value->'event'->'timestamp', 'tool_name', x.value->'event'->'tool_name',
      'tool_call_id', x.value->'event'->'tool_call_id', 'inner_action_id', x.value->'event'->'action_id', 'is_error', x.value->'event'->'observation'->'is_error')
  END`;
const PIECES = `e.seq, e.epoch, e.event_id, e.kind, e.created_at AS stored_at, e.producer_seq IS NOT NULL AS from_sandbox, ${within(100, 'x.timestamp')} AS at, ${within(100, 'x.source')} AS source, ${within(1_000, 'x.tool_name')} AS tool,
  ${within(1_000, 'x.tool_call_id')} AS tool_call_id, ${within(100, 'x.action_id')} AS action_id, ${within(200, 'x.code')} AS code, ${within(100, 'x.key')} AS key,
  ${within(10, "x.observation->'is_error'")} AS failed,
  coalesce(left(to_json(left(m.text, ${TITLE_JSON}))::text, ${TITLE_JSON}), left((x.llm_message->'content'->0->'text')::text, ${TITLE_JSON})) AS title,
  m.created_at AS sent_at, m.trace_id, ${within(MAX_VALUE, VALUE)} AS value`;
const FROM = `app.event e
  LEFT JOIN app.inbox_message m ON m.org_id = e.org_id AND m.id = e.event_id AND e.kind = 'MessageEvent'
  CROSS JOIN LATERAL json_to_record(${readable('e.event')}) AS x(timestamp json, source json, tool_name json, tool_call_id json, action_id json, code json,
    key json, value json, observation json, llm_message json)`;

/** Kinds that make or end a span. */
const KINDS: readonly EventKind[] = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'UserRejectObservation',
  'AgentErrorEvent',
  'ConversationErrorEvent',
  'ConversationStateUpdateEvent',
  'CondensationRequest',
  'Condensation',
  'InterruptEvent',
];

/** State updates that make or end a span, as JSON has their keys. */
const KEYS: readonly string[] = ['"execution_status"', '"start_task"', '"confirmation"', '"stats"', '"sub_agent"'];

/** Lines with `seq` in `(after, upto]`, ascending. */
export async function readTraceRows(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  range: { after: number; upto: number },
): Promise<TraceRow[]> {
  const { rows } = await client.query<TraceRow>({
    name: 'trace-rows',
    text: `SELECT ${PIECES} FROM ${FROM} WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = ANY($5)
             AND (x.key IS NULL OR x.key::text = ANY($6)) ORDER BY e.seq`,
    values: [orgId, conversationId, range.after, range.upto, KINDS, KEYS],
  });
  return rows;
}

/**
 * The user's message and the word on the run that hold at a position; each absent where there is none. In the order of
 * the log.
 */
export async function readTraceOpening(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  upto: number,
): Promise<TraceRow[]> {
  const { rows } = await client.query<TraceRow>({
    name: 'trace-opening',
    text: `SELECT ${PIECES} FROM ${FROM} WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq IN (
             (SELECT seq FROM app.event WHERE org_id = $1 AND conversation_id = $2 AND seq <= $3 AND kind = 'MessageEvent' AND (${readable('event')}->'source')::text = '"user"'
              ORDER BY seq DESC LIMIT 1),
             (SELECT seq FROM app.event WHERE org_id = $1 AND conversation_id = $2 AND seq <= $3 AND kind = 'ConversationStateUpdateEvent'
                AND (${readable('event')}->'key')::text = '"execution_status"'
                AND (${readable('event')}->'value')::text <> '"waiting_for_confirmation"'
              ORDER BY seq DESC LIMIT 1)
           ) ORDER BY e.seq`,
    values: [orgId, conversationId, upto],
  });
  return rows;
}

export type TracedConversation = Columns<
  'app.conversation',
  'head' | 'desired' | 'status',
  { desired: 'run' | 'rest' }
>;

export async function readTracedConversation(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<TracedConversation | null> {
  const { rows } = await client.query<TracedConversation>({
    name: 'traced-conversation',
    text: 'SELECT head, desired, status FROM app.conversation WHERE org_id = $1 AND id = $2',
    values: [orgId, conversationId],
  });
  return rows[0] ?? null;
}

/** Messages that wait, the next one first. */
export async function readWaitingMessages(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  limit: number,
): Promise<Array<{ readonly id: string; readonly sentAt: number; readonly traceId: string | null }>> {
  const { rows } = await client.query<Columns<'app.inbox_message', 'id' | 'created_at' | 'trace_id'>>({
    name: 'trace-waiting',
    text: `SELECT m.id, m.created_at, m.trace_id FROM app.inbox_message m
           WHERE m.org_id = $1 AND m.conversation_id = $2 AND m.state IN ('queued', 'delivered') ORDER BY m.position LIMIT $3`,
    values: [orgId, conversationId, limit],
  });
  return rows.map((row) => ({ id: row.id, sentAt: row.created_at.getTime(), traceId: row.trace_id }));
}

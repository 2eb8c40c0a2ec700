import { MAX_LOOKED_AT, MAX_TURN_LINE } from '@slipway/contracts/conversations';
import type { EventKind } from '@slipway/contracts/events';
import { inOrg, type SqlPool } from '@slipway/db/sql';

/** Where to look: events with `after < seq <= upto`. */
export interface Stretch {
  readonly after: number;
  readonly upto: number;
}

/** A message of a user, or something that counts for the turn that it began. */
export interface MarkRow {
  readonly seq: number;
  readonly at: string;
  readonly mark: 'message' | 'edit' | 'failure' | 'question';
  /** Beginning of the message as a JSON string, cut anywhere; `null` for the others. */
  readonly title: string | null;
}

/**
 * Postgres refuses the escapes of NUL and of half a surrogate pair, which what tools print has: `\u` becomes `/u`. Only
 * what is compared is read so.
 */
export const READABLE = `replace(event::text, '\\u', '/u')::json`;
/** Beginning of a message's JSON that holds its first line. Characters. */
const TITLE_JSON = 4 * MAX_TURN_LINE;
const IS_MESSAGE = `kind = 'MessageEvent' AND x.source::text <> '"environment"' AND (x.llm_message->'role')::text = '"user"'`;
const FROM = `app.event CROSS JOIN LATERAL json_to_record(${READABLE})
  AS x(timestamp json, source json, key json, value json, error json, observation json, llm_message json)`;
const MARK = `CASE
    WHEN ${IS_MESSAGE} THEN 'message'
    WHEN kind IN ('ConversationErrorEvent') THEN 'failure'
    WHEN kind = 'AgentErrorEvent' AND x.error::text NOT LIKE '"interrupted: %' THEN 'failure'
    WHEN kind = 'ObservationEvent' AND ((x.observation->'is_error')::text = 'true' OR (x.observation->'exit_code')::text ~ '^[1-9]') THEN 'failure'
    WHEN kind = 'ObservationEvent' AND (x.observation->'kind')::text ~ '^"((Planning)?FileEditor|FileEdit|ApplyPatch)Observation"$'
      AND (x.observation->'command')::text IS DISTINCT FROM '"view"' THEN 'edit'
    WHEN kind = 'ConversationStateUpdateEvent' AND x.key::text = '"execution_status"' AND x.value::text = '"waiting_for_confirmation"' THEN 'question'
  END`;
const PIECES = `seq, left(x.timestamp::text, 60) AS at, ${MARK} AS mark,
  CASE WHEN kind = 'MessageEvent' THEN left((x.llm_message->'content'->0->'text')::text, ${TITLE_JSON}) END AS title`;
const KINDS: readonly EventKind[] = [
  'MessageEvent',
  'ObservationEvent',
  'AgentErrorEvent',
  'ConversationErrorEvent',
  'ConversationStateUpdateEvent',
];

/**
 * What makes turns in a stretch, ascending, after the message that began the turn in which the stretch begins. At most
 * `MAX_LOOKED_AT` events and one more are read.
 */
export async function readMarks(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  { after, upto }: Stretch,
): Promise<MarkRow[]> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<MarkRow>({
      name: 'read-turn-marks',
      text: `SELECT * FROM (
               (SELECT ${PIECES} FROM ${FROM}
                WHERE org_id = $1 AND conversation_id = $2 AND seq <= $3 AND seq > $3 - ${MAX_LOOKED_AT} AND ${IS_MESSAGE}
                ORDER BY seq DESC LIMIT 1)
               UNION ALL
               (SELECT ${PIECES} FROM ${FROM}
                WHERE org_id = $1 AND conversation_id = $2 AND seq > $3 AND seq <= $4 AND kind = ANY($5))
             ) AS marks WHERE mark IS NOT NULL ORDER BY seq`,
      values: [orgId, conversationId, after, upto, KINDS],
    }),
  );
  return rows;
}

export interface CandidateRow {
  readonly seq: number;
  readonly kind: EventKind;
  /** JSON of the event, as stored. */
  readonly event: string;
}

/** Kinds with text of a user, of the agent or of a tool. */
const SEARCHED: readonly EventKind[] = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'UserRejectObservation',
  'AgentErrorEvent',
  'ConversationErrorEvent',
  'Condensation',
];

/**
 * Events of a stretch whose JSON holds a text anywhere, in whichever case, newest first: more than have it where a
 * reader sees it, never fewer.
 * @param needle the text as JSON writes it
 */
export async function readCandidates(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  { after, upto, needle, limit }: Stretch & { readonly needle: string; readonly limit: number },
): Promise<CandidateRow[]> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<CandidateRow>({
      name: 'search-events',
      text: `SELECT seq, kind, event::text AS event FROM app.event
             WHERE org_id = $1 AND conversation_id = $2 AND seq > $3 AND seq <= $4 AND kind = ANY($5) AND event::text ILIKE $6
             ORDER BY seq DESC LIMIT $7`,
      values: [orgId, conversationId, after, upto, SEARCHED, `%${needle.replaceAll(/[\\%_]/g, '\\$&')}%`, limit],
    }),
  );
  return rows;
}

import { MAX_LOOKED_AT } from '@slipway/contracts/conversations';
import type { EventKind } from '@slipway/contracts/events';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { READABLE, type Stretch } from './lookup.queries.js';

/** Parts of an event that a recap counts by, as a sandbox wrote them; `null`: not there. */
export interface RecapRow {
  readonly seq: number;
  readonly kind: EventKind;
  readonly id: string | null;
  /** Of its action or observation. */
  readonly part: string | null;
  readonly source: string | null;
  /** Kind of call of the editor, or beginning of a command. */
  readonly command: string | null;
  readonly path: string | null;
  /** Paths of a patch, as a JSON list. */
  readonly patched: string | null;
  readonly action_id: string | null;
  readonly is_error: string | null;
  readonly exit_code: string | null;
  /** End of the output's JSON, which may begin anywhere. */
  readonly output: string | null;
  readonly error: string | null;
  /** Of an update of the state: its key, its value where that is a word, and the cost. */
  readonly key: string | null;
  readonly value: string | null;
  readonly cost: string | null;
}

/** Most of a command, a path or a word; most of an output. Characters. */
const MAX_WORD = 500;
const MAX_OUTPUT = 2_000;
/** Most files that one patch counts for. */
const MAX_PATCHED = 200;

const KINDS: readonly EventKind[] = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'AgentErrorEvent',
  'ConversationErrorEvent',
  'ConversationStateUpdateEvent',
];
const word = (value: string, name: string): string => `left(${value}, ${MAX_WORD}) AS ${name}`;
const RECORD = `json_to_record(${READABLE})
  AS x(id json, source json, key json, value json, error json, action json, action_id json, observation json)`;
const PIECES = [
  'e.seq::int AS seq, e.kind',
  word(`x.id #>> '{}'`, 'id'),
  word(`coalesce(x.action->>'kind', x.observation->>'kind')`, 'part'),
  word(`x.source #>> '{}'`, 'source'),
  word(`coalesce(x.action->>'command', x.observation->>'command')`, 'command'),
  `left(x.observation->>'path', 4096) AS path`,
  `CASE WHEN x.observation->>'kind' = 'ApplyPatchObservation' AND json_typeof(x.observation->'commit'->'changes') = 'object'
     THEN (SELECT json_agg(left(k, 4096))::text FROM (SELECT json_object_keys(x.observation->'commit'->'changes') AS k LIMIT ${MAX_PATCHED}) AS keys) END AS patched`,
  word(`x.action_id #>> '{}'`, 'action_id'),
  word(`x.observation->>'is_error'`, 'is_error'),
  word(`x.observation->>'exit_code'`, 'exit_code'),
  `CASE WHEN x.observation->>'kind' = 'TerminalObservation' THEN right((x.observation->'content')::text, ${MAX_OUTPUT}) END AS output`,
  word(`x.error #>> '{}'`, 'error'),
  word(`x.key #>> '{}'`, 'key'),
  `CASE WHEN json_typeof(x.value) = 'string' THEN left(x.value #>> '{}', ${MAX_WORD}) END AS value`,
  `CASE WHEN x.key #>> '{}' = 'stats' AND json_typeof(x.value) = 'object' THEN left(x.value->>'accumulated_cost', 40) END AS cost`,
].join(', ');

/** What a recap counts in a stretch, ascending. Reads at most `MAX_LOOKED_AT` events. */
export async function readRecap(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  { after, upto }: Stretch,
): Promise<RecapRow[]> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<RecapRow>({
      name: 'read-recap',
      text: `SELECT ${PIECES} FROM app.event e CROSS JOIN LATERAL ${RECORD}
             WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = ANY($5)
             ORDER BY e.seq LIMIT ${MAX_LOOKED_AT}`,
      values: [orgId, conversationId, after, upto, KINDS],
    }),
  );
  return rows;
}

/**
 * Cost that was logged last at or before a position, as it was written; `null`: none in the events that are looked at.
 */
export async function readCostAt(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  seq: number,
): Promise<string | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ cost: string | null }>({
      name: 'read-cost-at',
      text: `SELECT left(x.value->>'accumulated_cost', 40) AS cost FROM app.event e CROSS JOIN LATERAL ${RECORD}
             WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq <= $3 AND e.seq > $3 - ${MAX_LOOKED_AT}
               AND e.kind = 'ConversationStateUpdateEvent' AND x.key #>> '{}' = 'stats' AND json_typeof(x.value) = 'object'
             ORDER BY e.seq DESC LIMIT 1`,
      values: [orgId, conversationId, seq],
    }),
  );
  return rows[0]?.cost ?? null;
}

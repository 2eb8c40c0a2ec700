import {
  type AnswerEgressRequest,
  EGRESS_REQUEST_HOURS,
  type EgressQuestion,
  type EgressRequest,
} from '@slipway/contracts/sandboxes';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { CredentialScoped } from '@slipway/domain';
import { READABLE } from '../../log/lookup/lookup.queries.js';
import { hostKey } from '../credentials/credentials.queries.js';
import { type AskerRow, askedByOf, COMMAND_JSON } from './asked-by.js';
import { RULE_JSON, type RuleAbout, type WorksOn } from './conversation-rules.js';

type RequestRow = Columns<
  'app.egress_request',
  | 'id'
  | 'state'
  | 'scope'
  | 'host'
  | 'port'
  | 'action_id'
  | 'tries'
  | 'first_time'
  | 'reason'
  | 'created_at'
  | 'decided_at'
  | 'decided_by_label',
  { state: EgressRequest['state']; scope: EgressRequest['scope'] }
>;
/** One that nobody has answered in time is over at once; `countRequests` writes it down. */
const STATE = `CASE WHEN state = 'waiting' AND created_at < now() - interval '${EGRESS_REQUEST_HOURS} hours' THEN 'expired' ELSE state END AS state`;
const COLUMNS = `id, host, port, action_id, tries, first_time, ${STATE}, scope, reason, created_at, decided_at, decided_by_label`;

/** What is known of who asks: nothing of a conversation that is not of the organization. */
export interface EgressPlace {
  /** `null`: there is no such conversation, or none was named. */
  readonly conversation: WorksOn | null;
  readonly settings: unknown;
  /** Rules about the host, of every scope. */
  readonly rules: readonly RuleAbout[];
  /** Credentials with a place at the host and port, of every scope; those that rest too. */
  readonly credentials: readonly CredentialScoped[];
}

/** @param names the host, and the names above it. `null`: there is no such organization. */
export async function readPlace(
  client: PoolClient,
  { org, conversation, host, port }: Pick<EgressQuestion, 'org' | 'conversation' | 'host' | 'port'>,
  names: readonly string[],
): Promise<EgressPlace | null> {
  const { rows } = await client.query<{
    settings: unknown;
    known: boolean;
    repository: string | null;
    environment: string | null;
    rules: EgressPlace['rules'] | null;
    credentials: EgressPlace['credentials'] | null;
  }>({
    name: 'egress-place',
    text: `SELECT o.settings, c.id IS NOT NULL AS known, c.repository, c.environment, (
             SELECT jsonb_agg(${RULE_JSON})
             FROM app.egress_rule r WHERE r.org_id = o.id AND r.host = ANY ($3)) AS rules, (
             SELECT jsonb_agg(jsonb_build_object('id', k.id, 'name', k.name, 'scope', k.scope, 'scopeValue', k.scope_value))
             FROM app.credential k WHERE k.org_id = o.id AND k.hosts @> ARRAY[$4]) AS credentials
           FROM app.org o LEFT JOIN app.conversation c ON c.org_id = o.id AND c.id = $2::uuid AND c.deleted_at IS NULL WHERE o.id = $1`,
    values: [org, conversation, names, hostKey(host, port)],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { settings, known, repository, environment, rules, credentials } = row;
  return {
    settings,
    conversation: known ? { repository, environment } : null,
    rules: rules ?? [],
    credentials: credentials ?? [],
  };
}

/**
 * The newest one for a host, of which a try is counted while it waits, as that of this sandbox; `null` when it was
 * never asked for.
 */
export async function tryAgain(
  client: PoolClient,
  { org, claim, conversation, host, port }: EgressQuestion,
): Promise<{ readonly id: string; readonly state: EgressRequest['state']; readonly recent: boolean } | null> {
  const { rows } = await client.query<{ id: string; state: EgressRequest['state']; recent: boolean }>({
    name: 'egress-try-again',
    text: `WITH newest AS (
             SELECT id, ${STATE}, decided_at > now() - interval '1 hour' AS recent FROM app.egress_request
             WHERE org_id = $1 AND conversation_id = $2::uuid AND host = $3 AND port = $4 ORDER BY created_at DESC, id DESC LIMIT 1
           ), counted AS (
             UPDATE app.egress_request r SET tries = least(r.tries + 1, 1000000), claim_id = $5 FROM newest n WHERE r.org_id = $1 AND r.id = n.id AND n.state = 'waiting'
           ) SELECT id, state, coalesce(recent, false) AS recent FROM newest`,
    values: [org, conversation, host, port, claim],
  });
  return rows[0] ?? null;
}

/**
 * Ends those that nobody has answered, and says how many wait and how many began within the hour: for hosts, and to use
 * credentials.
 */
export async function countRequests(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<{ readonly waiting: number; readonly hour: number }> {
  await client.query(
    `UPDATE app.egress_request SET state = 'expired', decided_at = now()
     WHERE org_id = $1 AND conversation_id = $2 AND state = 'waiting' AND created_at < now() - make_interval(hours => $3)`,
    [orgId, conversationId, EGRESS_REQUEST_HOURS],
  );
  const { rows } = await client.query<{ waiting: number; hour: number }>(
    `SELECT count(*) FILTER (WHERE state = 'waiting' AND created_at > now() - interval '${EGRESS_REQUEST_HOURS} hours')::integer AS waiting,
       count(*) FILTER (WHERE created_at > now() - interval '1 hour')::integer AS hour
     FROM (SELECT state, created_at FROM app.egress_request WHERE org_id = $1 AND conversation_id = $2
       UNION ALL SELECT state, created_at FROM app.credential_request WHERE org_id = $1 AND conversation_id = $2) either`,
    [orgId, conversationId],
  );
  return rows[0] ?? { waiting: 0, hour: 0 };
}

/** Under the conversation's lock: one waits for a host. */
export async function insertRequest(
  client: PoolClient,
  id: string,
  { org, conversation, claim, host, port, actionId }: EgressQuestion,
): Promise<EgressRequest> {
  const { rows } = await client.query<RequestRow>(
    `INSERT INTO app.egress_request (org_id, id, conversation_id, claim_id, host, port, action_id, first_time)
     VALUES ($1, $2, $3, $4, $5, $6, $7, NOT EXISTS (SELECT 1 FROM app.egress_request r WHERE r.org_id = $1 AND r.host = $5 AND r.state = 'allowed'))
     RETURNING ${COLUMNS}`,
    [org, id, conversation, claim, host, port, actionId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a request was not written');
  return requestOf(row);
}

/** The action that the sandbox named, of the same conversation alone. */
const ASKER = `LEFT JOIN app.event e ON e.org_id = $1 AND e.conversation_id = r.conversation_id AND e.kind = 'ActionEvent'
       AND e.event_id = CASE WHEN r.action_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN r.action_id::uuid END
     LEFT JOIN LATERAL json_to_record(${READABLE}) AS x(action json) ON true`;
const ASKER_COLUMNS = `e.seq AS asker_seq, left(coalesce(x.action->'command', x.action->'code')::text, ${COMMAND_JSON}) AS asker_command`;

/** Newest first. */
export async function listRequests(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<EgressRequest[]> {
  const { rows } = await client.query<RequestRow & AskerRow>(
    `WITH r AS (
       SELECT ${COLUMNS}, conversation_id FROM app.egress_request WHERE org_id = $1 AND conversation_id = $2 ORDER BY created_at DESC, id DESC LIMIT 200
     ) SELECT r.*, ${ASKER_COLUMNS} FROM r ${ASKER} ORDER BY r.created_at DESC, r.id DESC`,
    [orgId, conversationId],
  );
  return rows.map((row) => ({ ...requestOf(row), askedBy: askedByOf(row) }));
}

export async function readRequest(
  client: PoolClient,
  orgId: string,
  { conversationId, id }: { readonly conversationId: string; readonly id: string },
): Promise<EgressRequest | null> {
  const { rows } = await client.query<RequestRow>(
    `SELECT ${COLUMNS} FROM app.egress_request WHERE org_id = $1 AND conversation_id = $2 AND id = $3`,
    [orgId, conversationId, id],
  );
  return rows[0] === undefined ? null : requestOf(rows[0]);
}

/** Under the conversation's lock, for one that waits. */
export async function decideRequest(
  client: PoolClient,
  orgId: string,
  id: string,
  {
    answer: { decision, scope, reason },
    by,
  }: { readonly answer: AnswerEgressRequest; readonly by: { readonly id: string; readonly label: string } },
): Promise<EgressRequest> {
  const { rows } = await client.query<RequestRow>(
    `UPDATE app.egress_request SET state = $3, scope = $4, reason = $5, decided_at = clock_timestamp(), decided_by = $6, decided_by_label = $7
     WHERE org_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      orgId,
      id,
      decision === 'allow' ? 'allowed' : 'denied',
      decision === 'allow' ? scope : 'conversation',
      reason,
      by.id,
      by.label,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a request was not written');
  return requestOf(row);
}

function requestOf(row: RequestRow): EgressRequest {
  return {
    id: row.id,
    host: row.host,
    port: row.port,
    state: row.state,
    tries: row.tries,
    actionId: row.action_id,
    firstTime: row.first_time,
    createdAt: row.created_at.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    decidedBy: row.decided_by_label,
    scope: row.scope,
    reason: row.reason,
  };
}

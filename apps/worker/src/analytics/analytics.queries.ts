import { ALLOWING_MEMBERS, ALLOWS_NOW, type MadeEvent } from '@slipway/analytics';
import type { Columns, PoolClient, SqlPool } from '@slipway/db/sql';
import { system } from '../conversations/conversation.queries.js';
import { type AuditLine, REPORTED_ACTIONS } from './audit-events.js';
import { type ConversationFacts, ConversationState, type LogLine } from './conversation-events.js';

/**
 * Organizations that allow analytics and have an entry in their audit, or a member who allows it, of which no event was
 * made yet.
 */
export function orgsToRead(pool: SqlPool, limit: number): Promise<string[]> {
  return system(pool, 'organizations for analytics', async (client) => {
    const { rows } = await client.query<{ id: string }>({
      name: 'analytics-orgs',
      text: `SELECT o.id FROM app.org o LEFT JOIN app.analytics_position p ON p.org_id = o.id
             WHERE o.analytics_since IS NOT NULL AND o.deletes_at IS NULL AND (p.org_id IS NULL
               OR EXISTS (SELECT 1 FROM app.audit_chain c WHERE c.org_id = o.id AND c.seq > p.audit_seq)
               OR EXISTS (SELECT 1 FROM app.membership m JOIN app.user_account u ON u.id = m.user_id WHERE m.org_id = o.id AND ${ALLOWS_NOW}
                 AND NOT EXISTS (SELECT 1 FROM app.analytics_member a WHERE a.org_id = o.id AND a.user_id = u.id)))
             LIMIT $1`,
      values: [limit],
    });
    return rows.map(({ id }) => id);
  });
}

/** Locks out another worker that makes events of the same thing; `false`: one does. Until the transaction ends. */
export async function lockMaking(client: PoolClient, what: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('analytics ' || $1, 0)) AS locked`,
    [what],
  );
  return rows[0]?.locked === true;
}

/** Position in the audit chain; the end of the chain for an organization that has just allowed it. */
export async function auditPosition(client: PoolClient, orgId: string): Promise<number> {
  const { rows } = await client.query<{ seq: string }>({
    name: 'analytics-audit-position',
    text: `WITH made AS (INSERT INTO app.analytics_position (org_id, audit_seq)
             SELECT $1, coalesce((SELECT max(c.seq) FROM app.audit_chain c JOIN app.audit_entry a ON a.id = c.entry_id, app.org o
               WHERE c.org_id = $1 AND o.id = $1 AND a.org_id = $1 AND a.created_at < o.analytics_since), 0)
             ON CONFLICT (org_id) DO NOTHING RETURNING audit_seq)
           SELECT audit_seq AS seq FROM made UNION ALL SELECT audit_seq FROM app.analytics_position WHERE org_id = $1 LIMIT 1`,
    values: [orgId],
  });
  return Number(rows[0]?.seq ?? 0);
}

/** @returns entries after a position, and the position up to which all are among them or make no event. */
export async function auditLines(
  client: PoolClient,
  orgId: string,
  after: number,
  limit: number,
): Promise<{ lines: AuditLine[]; upto: number }> {
  const { rows: ends } = await client.query<{ upto: string | null }>({
    name: 'analytics-audit-end',
    text: 'SELECT max(seq) AS upto FROM (SELECT seq FROM app.audit_chain WHERE org_id = $1 AND seq > $2 ORDER BY seq LIMIT $3) next',
    values: [orgId, after, limit],
  });
  const upto = Number(ends[0]?.upto ?? after);
  if (upto === after) return { lines: [], upto };
  const { rows } = await client.query<Omit<AuditLine, 'seq'> & { seq: string }>({
    name: 'analytics-audit-lines',
    text: `SELECT c.seq, a.id, a.created_at AS at, a.actor_kind AS "actorKind", a.actor_id AS "actorId", a.via_key IS NOT NULL AS "viaKey", a.action, a.target, a.detail,
             CASE WHEN a.action IN ('conversation.approve', 'conversation.reject') AND a.target ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
               extract(epoch FROM a.created_at - (SELECT max(e.created_at) FROM app.event e WHERE e.org_id = $1 AND e.conversation_id = a.target::uuid
                 AND e.kind = 'SecurityAnalysisEvent' AND e.created_at <= a.created_at))::float8 END AS waited
           FROM app.audit_chain c JOIN app.audit_entry a ON a.id = c.entry_id AND a.org_id = $1
           WHERE c.org_id = $1 AND c.seq > $2 AND c.seq <= $3 AND a.action = ANY ($4) ORDER BY c.seq`,
    values: [orgId, after, upto, REPORTED_ACTIONS],
  });
  return { lines: rows.map((row) => ({ ...row, seq: Number(row.seq) })), upto };
}

export async function setAuditPosition(client: PoolClient, orgId: string, upto: number): Promise<void> {
  await client.query('UPDATE app.analytics_position SET audit_seq = $2 WHERE org_id = $1', [orgId, upto]);
}

/**
 * Sign-ups of members who allow analytics and whose sign-up was not made yet, and with it the organization's beginning
 * for who founded it. Makes each once.
 */
export async function newMembers(client: PoolClient, orgId: string): Promise<MadeEvent[]> {
  const { rows } = await client.query<{
    userId: string;
    userAt: Date;
    orgAt: Date;
    kind: 'personal' | 'company';
    source: string;
    brokered: boolean;
  }>({
    name: 'analytics-members',
    text: `WITH allowing AS (${ALLOWING_MEMBERS}), made AS (
             INSERT INTO app.analytics_member (org_id, user_id) SELECT $1, user_id FROM allowing ON CONFLICT DO NOTHING RETURNING user_id)
           SELECT a.user_id AS "userId", a.user_created_at AS "userAt", a.org_created_at AS "orgAt", a.kind, a.source,
             EXISTS (SELECT 1 FROM app.provider_token t WHERE t.user_id = a.user_id) AS brokered
           FROM allowing a JOIN made USING (user_id) ORDER BY a.user_id`,
    values: [orgId],
  });
  return rows.flatMap(({ userId, userAt, orgAt, kind, source, brokered }): MadeEvent[] => [
    {
      event: { name: 'user_signed_up', properties: { idp: brokered ? 'brokered' : 'direct' } },
      source: `${orgId} ${userId}`,
      userId,
      at: userAt,
    },
    ...(source === 'founder'
      ? [{ event: { name: 'org_created' as const, properties: { kind } }, source: orgId, userId, at: orgAt }]
      : []),
  ]);
}

/** The first run of a member that finished: made once. */
export async function activation(
  client: PoolClient,
  orgId: string,
  userId: string,
  at: Date,
): Promise<MadeEvent | null> {
  const { rows } = await client.query<{ days: number }>({
    name: 'analytics-activation',
    text: `UPDATE app.analytics_member m SET activated_at = $3 FROM app.user_account u
           WHERE m.org_id = $1 AND m.user_id = $2 AND m.activated_at IS NULL AND u.id = m.user_id
           RETURNING greatest(0, extract(epoch FROM $3::timestamptz - u.created_at) / 86400)::float8 AS days`,
    values: [orgId, userId, at],
  });
  if (rows[0] === undefined) return null;
  return {
    event: { name: 'user_activated', properties: { days_since_sign_up: Math.round(rows[0].days * 100) / 100 } },
    source: `${orgId} ${userId}`,
    userId,
    at,
  };
}

/** A conversation with more in its log than was read. */
export interface UnreadConversation extends ConversationFacts {
  readonly orgId: string;
  readonly head: number;
  readonly upto: number;
}

/**
 * Of organizations that allow analytics: conversations that changed in `[since, until)` and were not read to their end,
 * the longest unchanged first.
 */
export function unreadConversations(
  pool: SqlPool,
  since: Date,
  until: Date,
  limit: number,
): Promise<UnreadConversation[]> {
  return system(pool, 'conversations for analytics', async (client) => {
    const { rows } = await client.query<UnreadConversation>({
      name: 'analytics-conversations',
      text: `SELECT c.id, c.org_id AS "orgId", c.created_by AS "createdBy", c.created_at AS "createdAt", c.model, c.head::float8 AS head, coalesce(a.upto, 0)::float8 AS upto
             FROM app.org o
             CROSS JOIN LATERAL (SELECT * FROM app.conversation WHERE org_id = o.id AND updated_at >= greatest($1, o.analytics_since) AND updated_at < $2) c
             LEFT JOIN app.analytics_conversation a ON a.conversation_id = c.id
             WHERE o.analytics_since IS NOT NULL AND c.head > coalesce(a.upto, 0) ORDER BY c.updated_at LIMIT $3`,
      values: [since, until, limit],
    });
    return rows;
  });
}

/** `null` before the first round. */
export async function conversationsReadUntil(pool: SqlPool): Promise<Date | null> {
  const { rows } = await pool.query<Columns<'app.analytics_cursor', 'until'>>(
    `SELECT until FROM app.analytics_cursor WHERE source = 'conversations'`,
  );
  return rows[0]?.until ?? null;
}

export async function setConversationsRead(pool: SqlPool, until: Date): Promise<void> {
  await pool.query(
    `INSERT INTO app.analytics_cursor (source, until) VALUES ('conversations', $1)
     ON CONFLICT (source) DO UPDATE SET until = greatest(app.analytics_cursor.until, excluded.until)`,
    [until],
  );
}

/** Up to where a log was read, and what is known of it. A state that this version cannot read is reset. */
export async function readState(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ upto: number; state: ConversationState }> {
  const { rows } = await client.query<Columns<'app.analytics_conversation', 'state'> & { upto: string }>({
    name: 'analytics-state',
    text: 'SELECT upto, state FROM app.analytics_conversation WHERE org_id = $1 AND conversation_id = $2',
    values: [orgId, id],
  });
  return {
    upto: Number(rows[0]?.upto ?? 0),
    state: ConversationState.safeParse(rows[0]?.state ?? {}).data ?? ConversationState.parse({}),
  };
}

export async function writeState(
  client: PoolClient,
  orgId: string,
  id: string,
  { upto, state }: { readonly upto: number; readonly state: ConversationState },
): Promise<void> {
  await client.query({
    name: 'write-analytics-state',
    text: `INSERT INTO app.analytics_conversation (conversation_id, org_id, upto, state) VALUES ($2, $1, $3, $4)
           ON CONFLICT (conversation_id) DO UPDATE SET upto = excluded.upto, state = excluded.state`,
    values: [orgId, id, upto, JSON.stringify(state)],
  });
}

/** Files and lines of what was last seen of a workspace. */
export async function changedLines(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ files: number; lines: number }> {
  const { rows } = await client.query<{ files: number; lines: number }>({
    name: 'analytics-changed-lines',
    text: `SELECT count(*)::int AS files, coalesce(sum((f->>'additions')::int + (f->>'deletions')::int), 0)::int AS lines
           FROM app.workspace_snapshot s, jsonb_array_elements(CASE jsonb_typeof(s.changes->'files') WHEN 'array' THEN s.changes->'files' ELSE '[]' END) f
           WHERE s.org_id = $1 AND s.conversation_id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? { files: 0, lines: 0 };
}

/**
 * JSON that Postgres can read although a sandbox wrote it: `\\u` escapes of NUL and half pairs are refused by its
 * functions.
 */
const EVENT = `replace(e.event::text, '\\u', '/u')::json`;
/** Longest piece of an event that leaves the database; the value is of a few short fields. Bytes. */
const MAX_PIECE = 200;
const MAX_VALUE = 2_000;
const piece = (expression: string, bytes = MAX_PIECE): string =>
  `CASE WHEN octet_length((${expression})::text) <= ${bytes} THEN ${expression} END`;
const VALUE = `CASE x.key::text
    WHEN '"execution_status"' THEN x.value
    WHEN '"start_task"' THEN json_build_object('status', x.value->'status', 'state', x.value->'state', 'code', x.value->'code')
    WHEN '"stats"' THEN json_build_object('cost', x.value->'accumulated_cost', 'prompt', x.value->'prompt_tokens', 'completion', x.value->'completion_tokens')
    WHEN '"pull_request"' THEN json_build_object('id', x.value->'id', 'provider', x.value->'provider', 'number', x.value->'number', 'state', x.value->'state',
      'headSha', x.value->'headSha', 'publish', x.value->'publish', 'createdAt', x.value->'createdAt')
  END`;
const KINDS = [
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'InterruptEvent',
  'ConversationErrorEvent',
  'ConversationStateUpdateEvent',
];

/** Lines in `(after, upto]`. Nothing that was said, printed or written is among their pieces. */
export async function logLines(
  client: PoolClient,
  orgId: string,
  id: string,
  { after, upto }: { readonly after: number; readonly upto: number },
): Promise<LogLine[]> {
  const { rows } = await client.query<Omit<LogLine, 'seq'> & { seq: string }>({
    name: 'analytics-log-lines',
    text: `SELECT e.seq, e.event_id AS "eventId", e.created_at AS at, e.kind, e.producer_seq IS NULL AS platform, ${piece('x.source')} AS source,
             ${piece("x.observation->'is_error'")} AS failed, ${piece('x.code')} AS code, ${piece('x.key')} AS key, ${piece(VALUE, MAX_VALUE)} AS value
           FROM app.event e CROSS JOIN LATERAL json_to_record(${EVENT}) AS x(source json, code json, key json, value json, observation json)
           WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = ANY ($5) ORDER BY e.seq`,
    values: [orgId, id, after, upto, KINDS],
  });
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

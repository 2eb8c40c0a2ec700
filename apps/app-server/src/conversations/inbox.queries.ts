import { MAX_QUEUED_MESSAGES, type QueuedMessage } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { sentAttachments } from '@slipway/db/conversations';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { currentTraceId } from '@slipway/telemetry';
import { detachFrom, toAttachment } from './attachments/attachments.queries.js';
import type { SandboxRow } from './conversations.queries.js';

/** Messages that are not in the log yet, the next one first. */
export function listQueued(pool: SqlPool, orgId: string, conversationId: string): Promise<QueuedMessage[]> {
  return inOrg(pool, orgId, (client) => queuedOf(client, orgId, conversationId));
}

export async function queuedOf(client: PoolClient, orgId: string, conversationId: string): Promise<QueuedMessage[]> {
  const { rows } = await client.query<
    Columns<
      'app.inbox_message',
      'id' | 'text' | 'state' | 'created_at' | 'created_by' | 'created_by_label' | 'held' | 'version',
      { state: QueuedMessage['state'] }
    >
  >({
    name: 'list-queued',
    text: `SELECT id, text, state, created_at, created_by, created_by_label, held, version FROM app.inbox_message
           WHERE org_id = $1 AND conversation_id = $2 AND state IN ('queued', 'delivered') AND notice IS NULL ORDER BY held, position`,
    values: [orgId, conversationId],
  });
  const ids = rows.map(({ id }) => id);
  const files = ids.length === 0 ? [] : await sentAttachments(client, orgId, conversationId, ids);
  return rows.map((row, index) => ({
    id: row.id,
    position: index + 1,
    text: row.text,
    state: row.state,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by_label,
    createdById: row.created_by,
    held: row.held,
    version: row.version,
    attachments: files.filter(({ messageId }) => messageId === row.id).map(toAttachment),
  }));
}

/** The agent works: what is sent to it now waits for the end of its turn. For a caller that holds the row. */
export function isAtWork(row: SandboxRow): boolean {
  return isLive(row) && row.statusState.execution === 'running';
}

/** There is a sandbox that takes messages. */
export function isLive(row: SandboxRow): boolean {
  return row.desired === 'run' && row.sandboxStatus === 'RUNNING' && row.statusState.start === 'ready';
}

/**
 * The message before those that wait for the end of a turn is on its way to the agent, or its turn is about to begin:
 * the end of that turn brings the next one. What is sent in between comes after them. For a caller that holds the row.
 */
export async function isQueueMoving(client: PoolClient, orgId: string, conversationId: string): Promise<boolean> {
  const { rows } = await client.query<{ moves: boolean }>({
    name: 'is-queue-moving',
    text: `SELECT m.state <> 'consumed' OR EXISTS (
             SELECT 1 FROM app.event e WHERE e.conversation_id = $2 AND e.event_id = m.id AND NOT EXISTS (
               SELECT 1 FROM app.event s WHERE s.conversation_id = $2 AND s.seq > e.seq
                 AND s.kind = 'ConversationStateUpdateEvent' AND s.event::text LIKE '%"key":"execution_status"%')) AS moves
           FROM app.inbox_message m
           WHERE m.org_id = $1 AND m.conversation_id = $2 AND NOT m.held AND m.state <> 'withdrawn' AND m.position < (
             SELECT min(position) FROM app.inbox_message WHERE org_id = $1 AND conversation_id = $2 AND state = 'queued' AND held)
           ORDER BY m.position DESC LIMIT 1`,
    values: [orgId, conversationId],
  });
  return rows[0]?.moves ?? false;
}

export interface FoundMessage {
  readonly conversationId: string;
  readonly text: string;
  readonly state: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly createdByLabel: string;
  readonly version: number;
}

/** A message whatever its state, of whatever conversation of the organization. */
export async function findMessage(client: PoolClient, orgId: string, id: string): Promise<FoundMessage | null> {
  const { rows } = await client.query<FoundMessage>({
    name: 'find-message',
    text: `SELECT conversation_id AS "conversationId", text, state, created_at AS "createdAt", created_by AS "createdBy",
             created_by_label AS "createdByLabel", version
           FROM app.inbox_message WHERE org_id = $1 AND id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

/** The same, and it stays as it is until the transaction ends: whoever withdraws it waits. */
export async function holdMessage(client: PoolClient, orgId: string, id: string): Promise<FoundMessage | null> {
  await client.query({
    name: 'hold-message',
    text: 'SELECT 1 FROM app.inbox_message WHERE org_id = $1 AND id = $2 FOR UPDATE',
    values: [orgId, id],
  });
  return findMessage(client, orgId, id);
}

/** False when a message of this organization has the id already. For a caller that holds the conversation's row. */
export async function insertMessage(
  client: PoolClient,
  caller: Principal,
  conversationId: string,
  message: { id: string; text: string; held?: boolean },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'insert-message',
    text: 'INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, trace_id, held) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (org_id, id) DO NOTHING',
    values: [
      message.id,
      caller.orgId,
      conversationId,
      message.text,
      caller.actor.id,
      caller.actor.label,
      currentTraceId(),
      message.held ?? false,
    ],
  });
  if (rowCount !== 1) return false;
  await client.query({
    name: 'count-message',
    text: `SELECT app.count_storage($1, $2, octet_length($3::text) + app.event_overhead(), 0, 0, 'work')`,
    values: [caller.orgId, conversationId, message.text],
  });
  return true;
}

/** Who the messages of the platform are from: no user, and nobody's id. */
const PLATFORM = { id: 'platform', label: 'Slipway' } as const;

/**
 * A notice of the platform to the agent, which is no user's message: nobody becomes an asker by it, and nobody is
 * charged. Not written where as many messages wait as may. For a caller that holds the conversation's row.
 * @param start whether an idle agent takes a step for it. @returns whether it was written.
 */
export async function insertNotice(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { id, text, start }: { readonly id: string; readonly text: string; readonly start: boolean },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'insert-notice',
    text: `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, trace_id, notice)
           SELECT $1, $2, $3, $4, $5, $6, $7, $8 WHERE (
             SELECT count(*) FROM app.inbox_message WHERE org_id = $2 AND conversation_id = $3 AND state IN ('queued', 'delivered')) < $9
           ON CONFLICT (org_id, id) DO NOTHING`,
    values: [
      id,
      orgId,
      conversationId,
      text,
      PLATFORM.id,
      PLATFORM.label,
      currentTraceId(),
      start ? 'start' : 'read',
      MAX_QUEUED_MESSAGES,
    ],
  });
  if (rowCount !== 1) return false;
  await client.query({
    name: 'count-message',
    text: `SELECT app.count_storage($1, $2, octet_length($3::text) + app.event_overhead(), 0, 0, 'work')`,
    values: [orgId, conversationId, text],
  });
  return true;
}

/** Takes a queued message back. Answers the state in which it is then, or `null` when there is no such message. */
export async function withdraw(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  id: string,
): Promise<string | null> {
  const { rowCount } = await client.query({
    name: 'withdraw-message',
    text: `UPDATE app.inbox_message SET state = 'withdrawn' WHERE org_id = $1 AND conversation_id = $2 AND id = $3 AND state = 'queued'`,
    values: [orgId, conversationId, id],
  });
  if (rowCount === 1) await detachFrom(client, orgId, id);
  const message = await findMessage(client, orgId, id);
  return message?.conversationId === conversationId ? message.state : null;
}

/** For a caller that holds the conversation's row and has seen that the message is queued. */
export async function rewrite(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { id, text }: { readonly id: string; readonly text: string },
): Promise<void> {
  await client.query({
    name: 'rewrite-message',
    text: `WITH before AS (SELECT octet_length(text) AS bytes FROM app.inbox_message WHERE org_id = $1 AND id = $3),
             written AS (UPDATE app.inbox_message SET text = $4, version = version + 1 WHERE org_id = $1 AND id = $3)
           SELECT app.count_storage($1, $2::uuid, octet_length($4::text) - bytes, 0, 0, 'work') FROM before`,
    values: [orgId, conversationId, id, text],
  });
}

/**
 * Gives the held messages the places that they have together, in this order; the ones that are not named come last, in
 * theirs. For a caller that holds the conversation's row.
 */
export async function reorder(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  ids: readonly string[],
): Promise<void> {
  await client.query({
    name: 'reorder-messages',
    text: `WITH held AS (
             SELECT id, position, row_number() OVER (ORDER BY position) AS place,
               row_number() OVER (ORDER BY array_position($3::uuid[], id) NULLS LAST, position) AS wanted
             FROM app.inbox_message WHERE org_id = $1 AND conversation_id = $2 AND state = 'queued' AND held)
           UPDATE app.inbox_message m SET position = p.position FROM held h JOIN held p ON p.place = h.wanted
           WHERE m.org_id = $1 AND m.id = h.id`,
    values: [orgId, conversationId, ids],
  });
}

/** Puts a queued message before all others, to be handed over at once. For a caller that holds the row. */
export async function putFirst(client: PoolClient, orgId: string, conversationId: string, id: string): Promise<void> {
  await client.query({
    name: 'put-message-first',
    text: `UPDATE app.inbox_message SET held = false, position =
             (SELECT min(position) - 1 FROM app.inbox_message WHERE org_id = $1 AND conversation_id = $2 AND state = 'queued')
           WHERE org_id = $1 AND id = $3`,
    values: [orgId, conversationId, id],
  });
}

/** Whether the end of a turn has queued a message that waited for it. */
export function hasReleased(pool: SqlPool, orgId: string, conversationId: string): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const { rowCount } = await client.query({
      name: 'has-released',
      text: `SELECT 1 FROM app.outbox WHERE org_id = $1 AND queue = 'conversation-deliver' AND key = $2`,
      values: [orgId, conversationId],
    });
    return rowCount === 1;
  });
}

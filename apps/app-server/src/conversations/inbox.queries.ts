import type { QueuedMessage } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { currentTraceId } from '@slipway/telemetry';

/** Messages that are not in the log yet, the next one first. */
export function listQueued(pool: SqlPool, orgId: string, conversationId: string): Promise<QueuedMessage[]> {
  return inOrg(pool, orgId, (client) => queuedOf(client, orgId, conversationId));
}

export async function queuedOf(client: PoolClient, orgId: string, conversationId: string): Promise<QueuedMessage[]> {
  const { rows } = await client.query<
    Columns<
      'app.inbox_message',
      'id' | 'text' | 'state' | 'created_at' | 'created_by_label',
      { state: QueuedMessage['state'] }
    >
  >({
    name: 'list-queued',
    text: `SELECT id, text, state, created_at, created_by_label FROM app.inbox_message
           WHERE org_id = $1 AND conversation_id = $2 AND state IN ('queued', 'delivered') ORDER BY position`,
    values: [orgId, conversationId],
  });
  return rows.map((row, index) => ({
    id: row.id,
    position: index + 1,
    text: row.text,
    state: row.state,
    createdAt: row.created_at.toISOString(),
    createdBy: row.created_by_label,
  }));
}

/** A message whatever its state, of whatever conversation of the organization. */
export async function findMessage(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ conversationId: string; text: string; state: string; createdAt: Date; createdByLabel: string } | null> {
  const { rows } = await client.query<
    Columns<'app.inbox_message', 'conversation_id' | 'text' | 'state' | 'created_at' | 'created_by_label'>
  >({
    name: 'find-message',
    text: 'SELECT conversation_id, text, state, created_at, created_by_label FROM app.inbox_message WHERE org_id = $1 AND id = $2',
    values: [orgId, id],
  });
  const row = rows[0];
  return row === undefined
    ? null
    : {
        conversationId: row.conversation_id,
        text: row.text,
        state: row.state,
        createdAt: row.created_at,
        createdByLabel: row.created_by_label,
      };
}

/** False when a message of this organization has the id already. For a caller that holds the conversation's row. */
export async function insertMessage(
  client: PoolClient,
  caller: Principal,
  conversationId: string,
  message: { id: string; text: string },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'insert-message',
    text: 'INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, trace_id) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (org_id, id) DO NOTHING',
    values: [
      message.id,
      caller.orgId,
      conversationId,
      message.text,
      caller.actor.id,
      caller.actor.label,
      currentTraceId(),
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

/** Takes a queued message back. Answers the state in which it is then, or `null` when there is no such message. */
export async function withdraw(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  id: string,
): Promise<string | null> {
  await client.query({
    name: 'withdraw-message',
    text: `UPDATE app.inbox_message SET state = 'withdrawn' WHERE org_id = $1 AND conversation_id = $2 AND id = $3 AND state = 'queued'`,
    values: [orgId, conversationId, id],
  });
  const message = await findMessage(client, orgId, id);
  return message?.conversationId === conversationId ? message.state : null;
}

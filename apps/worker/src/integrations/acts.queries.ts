import { randomUUID } from 'node:crypto';
import type { ConversationQueue } from '@slipway/contracts/operate';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { Thread } from '@slipway/integrations';
import { currentTraceId } from '@slipway/telemetry';

export interface ClaimedThread {
  readonly connectionId: string;
  readonly thread: Thread;
  readonly conversationId: string;
}

/**
 * Gives a thread its conversation. @returns the one that it has: another when a delivery at the same moment was first.
 * The row is locked until the transaction ends, so deliveries of one thread go one after the other.
 */
export async function claimThread(
  client: PoolClient,
  orgId: string,
  { connectionId, thread, conversationId }: ClaimedThread,
): Promise<string> {
  const { rows } = await client.query<
    Columns<'app.integration_thread', 'conversation_id', { conversation_id: string }>
  >({
    name: 'claim-thread',
    text: `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, conversation_id, place, url, title, confidential) VALUES ($1, $2, $3, $4, $5::jsonb, $6, left($7, 500), $8)
           ON CONFLICT (connection_id, thread_key) DO UPDATE SET conversation_id = coalesce(app.integration_thread.conversation_id, excluded.conversation_id)
           RETURNING conversation_id`,
    values: [
      connectionId,
      thread.key,
      orgId,
      conversationId,
      JSON.stringify(thread.place),
      thread.url,
      thread.title,
      thread.confidential,
    ],
  });
  return rows[0]?.conversation_id ?? conversationId;
}

export async function muteThread(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  thread: Thread,
): Promise<void> {
  await client.query(
    `INSERT INTO app.integration_thread (connection_id, thread_key, org_id, place, url, title, confidential, muted_at) VALUES ($1, $2, $3, $4::jsonb, $5, left($6, 500), $7, now())
     ON CONFLICT (connection_id, thread_key) DO UPDATE SET muted_at = coalesce(app.integration_thread.muted_at, now())`,
    [connectionId, thread.key, orgId, JSON.stringify(thread.place), thread.url, thread.title, thread.confidential],
  );
}

/** A conversation under its lock: whether its sandbox takes messages now, and how many wait. */
export async function lockInbox(
  client: PoolClient,
  orgId: string,
  id: string,
): Promise<{ live: boolean; waiting: number } | null> {
  const { rows } = await client.query<{ live: boolean }>(
    `SELECT desired = 'run' AND sandbox_status = 'RUNNING' AND coalesce(status_state ->> 'start', '') = 'ready' AS live
     FROM app.conversation WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    [orgId, id],
  );
  if (rows[0] === undefined) return null;
  const { rows: waiting } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM app.inbox_message WHERE org_id = $1 AND conversation_id = $2 AND state IN ('queued', 'delivered')`,
    [orgId, id],
  );
  return { live: rows[0].live, waiting: waiting[0]?.count ?? 0 };
}

/** The thread that a message came from: its answer is shown there and nowhere else. */
export interface MessageThread {
  readonly connectionId: string;
  readonly key: string;
}

export async function addMessage(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  {
    id,
    text,
    by,
    thread,
  }: {
    readonly id: string;
    readonly text: string;
    readonly by: { id: string; label: string };
    readonly thread: MessageThread;
  },
): Promise<void> {
  await client.query(
    `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label, from_thread, thread_connection_id, thread_key, trace_id)
     VALUES ($1, $2, $3, $4, $5, $6, true, $7, $8, $9)`,
    [id, orgId, conversationId, text, by.id, by.label, thread.connectionId, thread.key, currentTraceId()],
  );
}

/** When the conversation of a thread was last asked something there; `null`: never, or there is none. */
export async function lastAskedInThread(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  threadKey: string,
): Promise<Date | null> {
  const { rows } = await client.query<{ at: Date | null }>(
    `SELECT max(m.created_at) AS at FROM app.integration_thread t JOIN app.inbox_message m ON m.org_id = t.org_id AND m.conversation_id = t.conversation_id
     WHERE t.org_id = $1 AND t.connection_id = $2 AND t.thread_key = $3 AND m.from_thread
       AND (m.thread_key IS NULL OR (m.thread_connection_id = $2 AND m.thread_key = $3))`,
    [orgId, connectionId, threadKey],
  );
  return rows[0]?.at ?? null;
}

/** The answer to this message is shown in its thread. */
export async function markOfThread(
  client: PoolClient,
  orgId: string,
  id: string,
  thread: MessageThread,
): Promise<void> {
  await client.query(
    'UPDATE app.inbox_message SET from_thread = true, thread_connection_id = $3, thread_key = $4 WHERE org_id = $1 AND id = $2',
    [orgId, id, thread.connectionId, thread.key],
  );
}

export interface WantedJob {
  readonly desired: 'run' | 'rest';
  readonly job: ConversationQueue;
  readonly traceparent: string;
}

/** Whether the conversation should have a sandbox, and the job that sees to it. */
export async function want(
  client: PoolClient,
  orgId: string,
  id: string,
  { desired, job, traceparent }: WantedJob,
): Promise<void> {
  await client.query('UPDATE app.conversation SET desired = $3, traceparent = $4 WHERE org_id = $1 AND id = $2', [
    orgId,
    id,
    desired,
    traceparent,
  ]);
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, $3, $4, $5::jsonb, clock_timestamp())
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [randomUUID(), orgId, job, id, JSON.stringify({ orgId, conversationId: id })],
  );
}

/** The answer of a pressed button is given by app-server. */
export async function wantPress(
  client: PoolClient,
  payload: { readonly orgId: string; readonly deliveryId: string },
): Promise<void> {
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, 'integration-press', $3, $4::jsonb, clock_timestamp())
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [randomUUID(), payload.orgId, payload.deliveryId, JSON.stringify(payload)],
  );
}

/** Who did it is the linked user; what brought it stands in the detail. */
export async function recordAct(
  client: PoolClient,
  orgId: string,
  entry: {
    id: string;
    action: string;
    target: string;
    by: { kind?: string; id: string; label: string };
    detail: Readonly<Record<string, unknown>>;
  },
): Promise<void> {
  await client.query(
    `INSERT INTO app.audit_entry (id, org_id, actor_kind, actor_id, actor_label, action, target, detail) VALUES ($1, $2, $8, $3, $4, $5, $6, $7::jsonb)`,
    [
      entry.id,
      orgId,
      entry.by.id,
      entry.by.label,
      entry.action,
      entry.target,
      JSON.stringify(entry.detail),
      entry.by.kind ?? 'user',
    ],
  );
}

/** What the organization's admins have set of what a conversation begins with, as it is stored. */
export async function storedSettings(client: PoolClient, orgId: string): Promise<unknown> {
  const { rows } = await client.query<Columns<'app.org', 'settings'>>('SELECT settings FROM app.org WHERE id = $1', [
    orgId,
  ]);
  return rows[0]?.settings ?? {};
}

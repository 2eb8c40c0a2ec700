import { DELIVERY_DAYS } from '@slipway/contracts/integrations';
import { QUEUES, type QueueName } from '@slipway/contracts/operate';
import { SANDBOX_USE_NOTED_SECONDS } from '@slipway/contracts/sandboxes';
import type { Columns, SqlPool } from '@slipway/db/sql';
import { lockConversation, system } from '../conversations/conversation.queries.js';

export type Found = Columns<'app.conversation', 'id'> & {
  readonly orgId: string;
};

/** An outbox job that was not queued, or whose job was lost, is queued again after this. Seconds. */
export const OUTBOX_AGE_SECONDS = 5;
/** A start that says nothing for this long may have no job. Seconds; its job, when there is one, is not disturbed. */
const START_AGE_SECONDS = 10;
const BATCH = 500;
/** Deliveries that are removed in one transaction. */
const DELIVERY_BATCH = 2_000;

/** Outbox jobs to be queued again; their time is renewed. */
export function staleOutboxJobs(pool: SqlPool): Promise<Array<{ queue: QueueName; payload: unknown; key: string }>> {
  return system(pool, 'outbox sweep', async (client) => {
    const result = await client.query<Columns<'app.outbox', 'queue' | 'payload' | 'key'>>(
      `UPDATE app.outbox SET enqueued_at = clock_timestamp() WHERE id IN
         (SELECT id FROM app.outbox WHERE enqueued_at < now() - $1 * interval '1 second' ORDER BY enqueued_at LIMIT $2 FOR UPDATE SKIP LOCKED)
       RETURNING queue, payload, key`,
      [OUTBOX_AGE_SECONDS, BATCH],
    );
    return result.rows.flatMap((row) => (row.queue in QUEUES ? [{ ...row, queue: row.queue as QueueName }] : []));
  });
}

/**
 * Conversations that should have a running sandbox and, by the lease, have none; and starts that no worker seems to
 * run. Those with an agent at work first.
 */
export function lostConversations(pool: SqlPool): Promise<Found[]> {
  return system(pool, 'recovery sweep', async (client) => {
    const result = await client.query<Found>(
      `SELECT id, org_id AS "orgId" FROM app.conversation WHERE desired = 'run' AND (
         (start_status = 'READY' AND (lease_until IS NULL OR lease_until < now()))
         OR (start_status NOT IN ('READY', 'ERROR') AND updated_at < now() - $1 * interval '1 second'))
       ORDER BY execution_status <> 'running', updated_at LIMIT $2`,
      [START_AGE_SECONDS, BATCH],
    );
    return result.rows;
  });
}

/**
 * A user works in its VS Code or on its ports, as sandbox-gateway has noted. `$2`: the time after which it is idle, and
 * for which a note may hold back. Seconds.
 */
const USED_THROUGH_GATEWAY = `EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = c.org_id AND g.conversation_id = c.id AND g.used_at > now() - $2 * interval '1 second')`;

interface IdleConversation extends Found {
  readonly sandboxUrl: string | null;
  /** Its agent never had a task: a client that brings its own works in the sandbox, which its log does not show. */
  readonly withoutTask: boolean;
}

/**
 * Conversations that do nothing although they have a sandbox. Any of them: those in whose sandbox a user works are
 * skipped, and must not stand before the others each time.
 */
export function idleConversations(pool: SqlPool, idleSeconds: number): Promise<IdleConversation[]> {
  return system(pool, 'idle sweep', async (client) => {
    const result = await client.query<IdleConversation>(
      `SELECT id, org_id AS "orgId", sandbox_url AS "sandboxUrl",
         NOT EXISTS (SELECT 1 FROM app.inbox_message m WHERE m.conversation_id = c.id AND m.notice IS NULL) AS "withoutTask"
       FROM app.conversation c
       WHERE desired = 'run' AND start_status = 'READY' AND sandbox_status = 'RUNNING' AND execution_status <> 'running' AND updated_at < now() - $1 * interval '1 second'
         AND NOT EXISTS (SELECT 1 FROM app.inbox_message m WHERE m.conversation_id = c.id AND m.state IN ('queued', 'delivered') AND NOT m.held)
         AND NOT ${USED_THROUGH_GATEWAY}
       ORDER BY random() LIMIT $3`,
      [idleSeconds, idleSeconds + SANDBOX_USE_NOTED_SECONDS, BATCH],
    );
    return result.rows;
  });
}

/** Starts that failed and could not give their sandbox back. */
export function failedWithSandbox(pool: SqlPool): Promise<Found[]> {
  return system(pool, 'failed start sweep', async (client) => {
    const result = await client.query<Found>(
      `SELECT id, org_id AS "orgId" FROM app.conversation WHERE start_status = 'ERROR' AND runtime_id IS NOT NULL AND updated_at < now() - interval '30 seconds' LIMIT $1`,
      [BATCH],
    );
    return result.rows;
  });
}

/** Marks an idle conversation for a pause, unless it is not idle any more. */
export function letRest(pool: SqlPool, found: Found, idleSeconds: number, outboxId: string): Promise<boolean> {
  return system(pool, 'idle sweep', async (client) => {
    const row = await lockConversation(client, found.id);
    if (row === null || row.desired !== 'run' || row.executionStatus === 'running' || row.startStatus !== 'READY')
      return false;
    // Checked under the row's lock: a message that came meanwhile is seen.
    const idle = await client.query<{ idle: boolean }>(
      `SELECT updated_at < now() - $3 * interval '1 second' AND NOT EXISTS (SELECT 1 FROM app.inbox_message WHERE conversation_id = $1 AND state IN ('queued', 'delivered') AND NOT held)
         AND NOT ${USED_THROUGH_GATEWAY} AS idle
       FROM app.conversation c WHERE id = $1`,
      [found.id, idleSeconds + SANDBOX_USE_NOTED_SECONDS, idleSeconds],
    );
    if (idle.rows[0]?.idle !== true) return false;
    await client.query(`UPDATE app.conversation SET desired = 'rest' WHERE id = $1`, [found.id]);
    await client.query(
      `INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES ($1, $2, 'conversation-pause', $3, $4) ON CONFLICT (queue, key) DO UPDATE SET enqueued_at = clock_timestamp()`,
      [outboxId, found.orgId, found.id, JSON.stringify({ orgId: found.orgId, conversationId: found.id })],
    );
    return true;
  });
}

/**
 * Deliveries and claims of deeds that no provider repeats any more. Some at a time, so that intake waits for none of
 * it. @returns how many.
 */
export async function removeOldDeliveries(pool: SqlPool): Promise<number> {
  let removed = 0;
  for (const [table, time] of [
    ['integration_delivery', 'received_at'],
    ['integration_dedupe', 'created_at'],
    ['integration_recovery', 'asked_at'],
    ['webhook_message', 'created_at'],
  ] as const)
    for (let gone = DELIVERY_BATCH; gone === DELIVERY_BATCH; removed += gone)
      gone = await system(pool, 'retention of deliveries', async (client) => {
        const { rowCount } = await client.query(
          `DELETE FROM app.${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM app.${table} WHERE ${time} < now() - $1 * interval '1 day' LIMIT $2))`,
          [DELIVERY_DAYS, DELIVERY_BATCH],
        );
        return rowCount ?? 0;
      });
  return removed;
}

/** Answers kept for repeated requests, for a day; and sign-ins that have ended. */
export function removeExpired(pool: SqlPool): Promise<number> {
  return system(pool, 'retention', async (client) => {
    const keys = await client.query(`DELETE FROM app.idempotency_key WHERE created_at < now() - interval '24 hours'`);
    const sessions = await client.query('DELETE FROM app.session WHERE expires_at < now()');
    return (keys.rowCount ?? 0) + (sessions.rowCount ?? 0);
  });
}

/** How many outbox jobs are not done yet, and the age of the oldest; queues without one are absent. */
export function outboxJobAges(pool: SqlPool): Promise<Array<{ queue: string; count: number; oldestSeconds: number }>> {
  return system(pool, 'metrics', async (client) => {
    const result = await client.query<{ queue: string; count: number; oldestSeconds: number }>(
      `SELECT queue, count(*)::int AS count, greatest(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestSeconds" FROM app.outbox GROUP BY queue`,
    );
    return result.rows;
  });
}

/**
 * Conversations that should have a sandbox, by the state of their start, and how many of them have a lease that is
 * over.
 */
export function conversationCounts(pool: SqlPool): Promise<Array<{ start: string; count: number; leaseOver: number }>> {
  return system(pool, 'metrics', async (client) => {
    const result = await client.query<{ start: string; count: number; leaseOver: number }>(
      `SELECT start_status AS start, count(*)::int AS count,
         count(*) FILTER (WHERE start_status = 'READY' AND (lease_until IS NULL OR lease_until < now()))::int AS "leaseOver"
       FROM app.conversation WHERE desired = 'run' GROUP BY start_status`,
    );
    return result.rows;
  });
}

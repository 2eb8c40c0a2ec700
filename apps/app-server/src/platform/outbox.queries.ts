import { randomUUID } from 'node:crypto';
import type { ConversationQueue, QueueName, QueuePayload } from '@slipway/contracts/operate';
import type { PoolClient } from '@slipway/db/sql';

/**
 * A job that must happen, written in the transaction that requires it. The worker deletes the row when the job is done,
 * if it is still the row that it read when it began; it queues unqueued rows again.
 */
export function wantJob(
  client: { query: PoolClient['query'] },
  orgId: string,
  queue: ConversationQueue,
  conversationId: string,
): Promise<void> {
  return wantJobAs(client, queue, conversationId, { orgId, conversationId });
}

/** The same for a job that is about something else; `key` says what, and is the one under which it is queued. */
export async function wantJobAs<Q extends QueueName>(
  client: { query: PoolClient['query'] },
  queue: Q,
  key: string,
  payload: QueuePayload<Q>,
): Promise<void> {
  await client.query({
    name: 'want-job',
    text: `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, $3, $4, $5::jsonb, clock_timestamp())
           ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    values: [randomUUID(), payload.orgId, queue, key, JSON.stringify(payload)],
  });
}

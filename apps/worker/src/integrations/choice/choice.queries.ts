import { randomBytes, randomUUID } from 'node:crypto';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { Thread } from '@slipway/integrations';
import { type StoredConnection, wantNoticeJob } from '@slipway/integrations/deliveries';
import { z } from 'zod';

/** Requests of one thread that wait for the same choice. */
const MAX_WAITING = 10;

const Waiting = z.object({ actorId: z.string(), deliveries: z.array(z.string()) });
/** Who asked in a thread for what, without a repository. The requests are read out of their deliveries again. */
export type WaitingChoice = z.infer<typeof Waiting> & { readonly id: string };

/**
 * Asks in the thread for a repository, once; what the same actor asks meanwhile waits for the same choice. @returns why
 * it does not; `null`: it waits.
 */
export async function wantChoice(
  client: PoolClient,
  orgId: string,
  {
    connectionId,
    thread,
    actorId,
    deliveryId,
  }: { readonly connectionId: string; readonly thread: Thread; readonly actorId: string; readonly deliveryId: string },
): Promise<'choice-of-another' | 'queue-full' | null> {
  const id = randomUUID();
  const { rows } = await client.query<{ id: string; actor: string; waits: boolean }>({
    name: 'want-choice',
    text: `INSERT INTO app.thread_answer AS a (id, org_id, connection_id, thread_key, kind, place, detail, marker)
           VALUES ($1, $2, $3, $4, 'choice', $5::jsonb, jsonb_build_object('actorId', $6::text, 'deliveries', jsonb_build_array($7::text)), $8)
           ON CONFLICT (connection_id, thread_key, kind, subject) DO UPDATE SET
             detail = CASE WHEN a.detail ->> 'actorId' = $6 AND jsonb_array_length(a.detail -> 'deliveries') < $9
               THEN jsonb_set(a.detail, '{deliveries}', (a.detail -> 'deliveries') || to_jsonb($7::text)) ELSE a.detail END,
             state = CASE a.state WHEN 'given-up' THEN 'waiting' ELSE a.state END
           RETURNING a.id, a.detail ->> 'actorId' AS actor, a.detail -> 'deliveries' ? $7 AS waits`,
    values: [
      id,
      orgId,
      connectionId,
      thread.key,
      JSON.stringify(thread.place),
      actorId,
      deliveryId,
      randomBytes(16).toString('hex'),
      MAX_WAITING,
    ],
  });
  if (rows[0]?.id === id) await wantNoticeJob(client, orgId, id);
  if (rows[0]?.actor !== actorId) return 'choice-of-another';
  return rows[0].waits ? null : 'queue-full';
}

/** What waits for a choice in a thread; locked until the transaction ends where `lock` says so. `null`: nothing. */
export async function findChoice(
  client: PoolClient,
  orgId: string,
  {
    connectionId,
    threadKey,
    lock,
  }: { readonly connectionId: string; readonly threadKey: string; readonly lock: boolean },
): Promise<WaitingChoice | null> {
  const { rows } = await client.query<Columns<'app.thread_answer', 'id' | 'detail'>>(
    `SELECT id, detail FROM app.thread_answer WHERE org_id = $1 AND connection_id = $2 AND thread_key = $3 AND kind = 'choice' ${lock ? 'FOR NO KEY UPDATE' : ''}`,
    [orgId, connectionId, threadKey],
  );
  const [row] = rows;
  const waiting = row === undefined ? undefined : Waiting.safeParse(row.detail).data;
  return row === undefined || waiting === undefined ? null : { id: row.id, ...waiting };
}

/** The message that asked becomes the progress message of the conversation. */
export async function endChoice(client: PoolClient, orgId: string, id: string, conversationId: string): Promise<void> {
  await client.query(
    `UPDATE app.thread_answer SET kind = 'progress', conversation_id = $3, detail = '{}', shown = NULL, state = 'waiting', attempts = 0, retry_at = NULL, failing_since = NULL,
       tried_at = CASE WHEN external_id IS NULL THEN coalesce(tried_at, created_at) ELSE tried_at END
     WHERE org_id = $1 AND id = $2`,
    [orgId, id, conversationId],
  );
}

/** Whether the organization has connections whose repositories could be chosen. */
export async function hasCodeHost(client: PoolClient, orgId: string, providers: readonly string[]): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT 1 FROM app.integration_connection WHERE org_id = $1 AND provider = ANY ($2) AND state <> 'disabled' LIMIT 1`,
    [orgId, providers],
  );
  return rowCount === 1;
}

/** Those whose id begins so: a choice has no room for whole ids. */
export async function connectionsByPrefix(
  client: PoolClient,
  orgId: string,
  prefix: string,
): Promise<StoredConnection[]> {
  const { rows } = await client.query<StoredConnection>(
    `SELECT id, provider, host, account, state, own, settings FROM app.integration_connection WHERE org_id = $1 AND left(id, 8) = $2 AND state <> 'disabled' LIMIT 2`,
    [orgId, prefix],
  );
  return rows;
}

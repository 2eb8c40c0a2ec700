import { randomBytes, randomUUID } from 'node:crypto';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { Thread } from '@slipway/integrations';
import type { StoredDelivery } from '@slipway/integrations/deliveries';
import { z } from 'zod';
import { wantAnswer } from './answers.queries.js';

/** A line comment that asked for something. */
export interface ReviewComment {
  /** By the provider's id. */
  readonly id: string;
  /** The comment that its thread begins with. */
  readonly threadOf: string;
}

/** Most line comments of one message that are answered one by one. */
const MAX_REPLIES = 30;

export interface WantedReplies {
  readonly thread: Thread;
  readonly comments: readonly ReviewComment[];
  readonly to: { readonly conversationId: string; readonly message: string };
}

/** Each line comment will have one reply, however often it is delivered. In the transaction of the act. */
export async function wantReplies(
  client: PoolClient,
  { orgId, connection }: StoredDelivery,
  { thread, comments, to: { conversationId, message } }: WantedReplies,
): Promise<void> {
  for (const { id, threadOf } of comments.slice(0, MAX_REPLIES))
    await client.query({
      name: 'want-reply',
      text: `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, subject, effect_of, place, detail, marker)
             VALUES ($1, $2, $3, $4, 'reply', $5, $6, $7::jsonb, $8::jsonb, $9) ON CONFLICT DO NOTHING`,
      values: [
        randomUUID(),
        orgId,
        connection.id,
        thread.key,
        id,
        conversationId,
        JSON.stringify(thread.place),
        JSON.stringify({ comment: threadOf, message }),
        randomBytes(16).toString('hex'),
      ],
    });
}

/**
 * The agent has finished, so what its consumed messages asked for is in the workspace, or is not done. No-op while it
 * works. What the branch holds until now is noted: a publish that leaves it there has changed nothing for them.
 */
export async function markHandled(client: PoolClient, orgId: string, conversationId: string): Promise<void> {
  await client.query({
    name: 'mark-replies-handled',
    text: `UPDATE app.thread_answer a SET updated_at = now(), detail = a.detail || jsonb_build_object('handled', true, 'before',
             (SELECT p.pushed_sha FROM app.pull_request p WHERE p.org_id = $1 AND p.conversation_id = $2 ORDER BY p.created_at, p.id LIMIT 1))
           WHERE a.org_id = $1 AND a.effect_of = $2 AND a.kind = 'reply' AND NOT a.detail ? 'handled'
             AND EXISTS (SELECT 1 FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2 AND c.status = 'finished')
             AND EXISTS (SELECT 1 FROM app.inbox_message m WHERE m.org_id = $1 AND m.id::text = a.detail ->> 'message' AND m.state = 'consumed')`,
    values: [orgId, conversationId],
  });
}

/** Replies that a publish which begins now answers. */
export async function handledReplies(client: PoolClient, orgId: string, conversationId: string): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.thread_answer', 'id'>>({
    name: 'handled-replies',
    text: `SELECT id FROM app.thread_answer WHERE org_id = $1 AND effect_of = $2 AND kind = 'reply' AND detail ? 'handled' AND NOT detail ? 'ready'`,
    values: [orgId, conversationId],
  });
  return rows.map(({ id }) => id);
}

/** They can be answered. @param sha where the push has left the branch; `null`: nothing was pushed. */
export async function readyReplies(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { ids, sha }: { readonly ids: readonly string[]; readonly sha: string | null },
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'ready-replies',
    text: `UPDATE app.thread_answer SET updated_at = now(),
             detail = detail || jsonb_build_object('ready', true, 'sha', CASE WHEN detail ->> 'before' IS DISTINCT FROM $4 THEN $4 END)
           WHERE org_id = $1 AND effect_of = $2 AND id = ANY ($3) AND NOT detail ? 'ready'`,
    values: [orgId, conversationId, ids, sha],
  });
  if ((rowCount ?? 0) > 0) await wantAnswer(client, orgId, conversationId);
}

const Ready = z.object({ comment: z.string(), ready: z.literal(true), sha: z.string().nullable() });
export type ReadyReply = z.infer<typeof Ready>;

/** `null`: it waits for the agent, or for the push. */
export const readyReply = (detail: unknown): ReadyReply | null => Ready.safeParse(detail).data ?? null;

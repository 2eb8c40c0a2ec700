import { randomBytes, randomUUID } from 'node:crypto';
import type { DeliveryReason } from '@slipway/contracts/integrations';
import type { PoolClient } from '@slipway/db/sql';
import { z } from 'zod';
import type { Intent, Thread } from '../intent.js';

/** Said where each request is answered, whatever was decided: beside those that are said in every thread. */
const SAID_IN_SESSIONS = [
  'actor-foreign',
  'actor-not-member',
  'permission-unknown',
  'other-account',
  'queue-full',
  'nothing-to-stop',
] as const;

/** Said to who pressed a button of ours. */
const SAID_TO_PRESSES = ['four-eyes', 'second-factor', 'answer-late'] as const;

/** Notice of a refusal to the actor. As stored in the row. */
export const Notice = z.object({
  code: z.enum([
    'actor-not-linked',
    'actor-not-allowed',
    'over-budget',
    'no-write-access',
    ...SAID_TO_PRESSES,
    ...SAID_IN_SESSIONS,
  ]),
  actor: z.object({ id: z.string(), login: z.string() }),
  repository: z.object({ fullName: z.string(), private: z.boolean() }).nullable(),
});
export type Notice = z.infer<typeof Notice>;

/**
 * `null`: nothing is said. Who was not addressed is not answered, and neither are people of other workspaces or whoever
 * has muted the thread.
 */
export function noticeOf(code: DeliveryReason, { trigger, actor, repository, thread }: Intent): Notice | null {
  if (trigger === 'thread-reply' || trigger === 'review' || trigger === 'mute') return null;
  if ((SAID_IN_SESSIONS as readonly string[]).includes(code) && thread.kind !== 'agent-session') return null;
  const { id, login } = actor;
  const place = repository === null ? null : { fullName: repository.fullName, private: repository.private };
  return Notice.safeParse({ code, actor: { id, login }, repository: place }).data ?? null;
}

export async function wantNoticeJob(client: PoolClient, orgId: string, answerId: string): Promise<void> {
  await client.query({
    name: 'want-notice-job',
    text: `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, 'integration-notice', $3, $4::jsonb, clock_timestamp() - interval '1 hour')`,
    values: [randomUUID(), orgId, answerId, JSON.stringify({ orgId, answerId })],
  });
}

/**
 * A refusal is said once in a thread to an actor: where each request is answered (`deed`), once for each. @returns what
 * is to be said; `null`: it is said already.
 */
export async function wantNotice(
  client: PoolClient,
  orgId: string,
  {
    connectionId,
    thread,
    notice,
    deed,
  }: { readonly connectionId: string; readonly thread: Thread; readonly notice: Notice; readonly deed: string | null },
): Promise<string | null> {
  const id = randomUUID();
  const { rowCount } = await client.query({
    name: 'want-notice',
    text: `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, subject, place, detail, marker)
           VALUES ($1, $2, $3, $4, 'notice', $5, $6::jsonb, $7::jsonb, $8) ON CONFLICT DO NOTHING`,
    values: [
      id,
      orgId,
      connectionId,
      thread.key,
      `${notice.code}/${notice.actor.id}${deed === null ? '' : `/${deed}`}`,
      JSON.stringify(thread.place),
      JSON.stringify(notice),
      randomBytes(16).toString('hex'),
    ],
  });
  if (rowCount !== 1) return null;
  await wantNoticeJob(client, orgId, id);
  return id;
}

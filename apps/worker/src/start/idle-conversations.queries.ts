import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { lockConversation } from '../conversations/conversation.queries.js';

/** A user who works in VS Code or on a port is noted once a minute; two notes may be missed. Seconds. */
const GATEWAY_USE_SECONDS = 150;

/**
 * True in SQL for a conversation `c` with nothing to do: it had a task, its agent is not at work, no message and no
 * resume is pending, and no user works in its sandbox through sandbox-gateway. A conversation that never had a task
 * belongs to a client with an agent of its own, whose work the log does not show.
 */
const NOTHING_TO_DO = `c.desired = 'run' AND c.start_status = 'READY' AND c.execution_status <> 'running'
  AND EXISTS (SELECT 1 FROM app.inbox_message m WHERE m.conversation_id = c.id AND m.notice IS NULL)
  AND NOT EXISTS (SELECT 1 FROM app.inbox_message m WHERE m.conversation_id = c.id AND m.state IN ('queued', 'delivered') AND NOT m.held)
  AND NOT EXISTS (SELECT 1 FROM app.outbox o WHERE o.queue = 'conversation-start' AND o.key = c.id::text)
  AND NOT EXISTS (SELECT 1 FROM app.sandbox_grant g WHERE g.org_id = c.org_id AND g.conversation_id = c.id
    AND g.used_at > now() - ${GATEWAY_USE_SECONDS} * interval '1 second')`;

/** Pauses an idle conversation, decided under its row's lock. @returns whether it is paused. */
export function pauseIfIdle(
  pool: SqlPool,
  { orgId, id }: { readonly orgId: string; readonly id: string },
  outboxId: string,
): Promise<boolean> {
  return inOrg(pool, orgId, (client) => restIfIdleIn(client, orgId, id, outboxId));
}

/** A conversation whose sandbox another of its organization may have. */
export type IdleSandbox = Columns<'app.conversation', 'id'> & {
  readonly sandboxUrl: string | null;
};

/**
 * Conversations that have run out of work since `idleSeconds`, with a sandbox, the longest idle first. Those that wait
 * for an answer to a confirmation are not among them: it may come at any moment.
 */
export function idleSandboxes(
  pool: SqlPool,
  orgId: string,
  idleSeconds: number,
  limit: number,
): Promise<IdleSandbox[]> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<IdleSandbox>(
      `SELECT c.id, c.sandbox_url AS "sandboxUrl" FROM app.conversation c WHERE c.org_id = $1 AND c.sandbox_status IN ('STARTING', 'RUNNING') AND c.sandbox_status = 'RUNNING' AND ${NOTHING_TO_DO}
         AND c.execution_status <> 'waiting_for_confirmation' AND c.updated_at < now() - $2 * interval '1 second'
       ORDER BY c.updated_at LIMIT $3`,
      [orgId, idleSeconds, limit],
    );
    return rows;
  });
}

/**
 * How many sandboxes the waiting starts of an organization need beyond those that are being paused. Taken under a lock
 * of the organization until the transaction ends, so that two starts that wait never pause two sandboxes for one.
 */
export async function lockAndCountMissing(client: PoolClient, orgId: string): Promise<number> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('make-room:' || $1, 0))`, [orgId]);
  const { rows } = await client.query<{ missing: number }>(
    `SELECT (count(*) FILTER (WHERE c.desired = 'run' AND c.start_status = 'WAITING_FOR_SANDBOX')
           - count(*) FILTER (WHERE c.desired = 'rest' AND c.sandbox_status = 'RUNNING'))::int AS missing
     FROM app.conversation c WHERE c.org_id = $1 AND c.sandbox_status IN ('STARTING', 'RUNNING')`,
    [orgId],
  );
  return rows[0]?.missing ?? 0;
}

/** As `pauseIfIdle`, within a transaction of the organization. */
export async function restIfIdleIn(client: PoolClient, orgId: string, id: string, outboxId: string): Promise<boolean> {
  if ((await lockConversation(client, id)) === null) return false;
  const { rows } = await client.query<{ idle: boolean }>(
    `SELECT ${NOTHING_TO_DO} AS idle FROM app.conversation c WHERE c.id = $1`,
    [id],
  );
  if (rows[0]?.idle !== true) return false;
  await wantRest(client, orgId, id, outboxId);
  return true;
}

async function wantRest(client: PoolClient, orgId: string, id: string, outboxId: string): Promise<void> {
  await client.query(`UPDATE app.conversation SET desired = 'rest' WHERE id = $1`, [id]);
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload) VALUES ($1, $2, 'conversation-pause', $3, $4) ON CONFLICT (queue, key) DO UPDATE SET enqueued_at = clock_timestamp()`,
    [outboxId, orgId, id, JSON.stringify({ orgId, conversationId: id })],
  );
}

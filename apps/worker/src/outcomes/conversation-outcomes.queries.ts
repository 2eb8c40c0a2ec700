import { inOrg, type SqlPool } from '@slipway/db/sql';
import { decimalOf, type TurnSums } from '@slipway/domain/outcomes';
import { system } from '../conversations/conversation.queries.js';

/** Whether the log of a conversation has more than was read. */
export interface UncountedConversation {
  readonly id: string;
  readonly orgId: string;
  readonly head: number;
  readonly after: number;
  readonly updatedAt: Date;
}

/** Of one organization and sweep. */
const MOST_OF_ONE = 100;
const MOST = 500;
/** Waits for an approval that are kept of one conversation. */
const MAX_WAITS = 1_000;

/** Conversations that changed in `(since, until)` and not after, the oldest first. */
export function uncountedConversations(pool: SqlPool, since: Date, until: Date): Promise<UncountedConversation[]> {
  return system(pool, 'outcomes of conversations', async (client) => {
    const { rows } = await client.query<
      Omit<UncountedConversation, 'head' | 'after'> & { head: string; after: string }
    >({
      name: 'uncounted-conversations',
      text: `SELECT c.id, c.org_id AS "orgId", c.head, c.upto AS after, c.updated_at AS "updatedAt"
             FROM app.org o
             CROSS JOIN LATERAL (SELECT c.id, c.org_id, c.head, c.updated_at, m.upto FROM app.conversation c
               JOIN app.conversation_outcome m ON m.org_id = c.org_id AND m.conversation_id = c.id
               WHERE c.org_id = o.id AND c.updated_at > $1 AND c.updated_at < $2 AND (c.head > m.read_head OR m.source IS NULL) ORDER BY c.updated_at LIMIT $3) c
             ORDER BY c.updated_at LIMIT $4`,
      values: [since, until, MOST_OF_ONE, MOST],
    });
    return rows.map(({ head, after, ...rest }) => ({ ...rest, head: Number(head), after: Number(after) }));
  });
}

export interface CountedTurns extends TurnSums {
  readonly upto: number;
  /** Of the conversation's first turn; `null`: not among these, or its agent never began. */
  readonly startWaitMs: number | null;
}

/**
 * Adds turns once: nothing is added where another worker has counted from the same position. What began the
 * conversation is the provider of the thread that its first message came from, else the kind of account that made it.
 */
export function addTurns(
  pool: SqlPool,
  { orgId, id, after, head, updatedAt }: UncountedConversation,
  counted: CountedTurns,
): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    await client.query({
      name: 'add-turns-to-outcome',
      text: `UPDATE app.conversation_outcome o SET turns = turns + $4, failed_turns = failed_turns + $5, failed_turns_usd = failed_turns_usd + $6,
               start_wait_ms = coalesce(start_wait_ms, $7), approval_waits_ms = (approval_waits_ms || $8::bigint[])[1:${MAX_WAITS}], upto = $9, read_head = greatest(read_head, $10), last_at = $11,
               source = coalesce(source, (
                 SELECT CASE WHEN m.from_thread THEN coalesce(k.provider, 'thread') END FROM (
                   SELECT from_thread, thread_connection_id FROM app.inbox_message WHERE org_id = $1 AND conversation_id = $2 ORDER BY position LIMIT 1) m
                 LEFT JOIN app.integration_connection k ON k.org_id = $1 AND k.id = m.thread_connection_id),
                 CASE WHEN EXISTS (SELECT 1 FROM app.service_account a WHERE a.org_id = $1 AND a.id = o.user_id) THEN 'service-account' ELSE 'user' END)
             WHERE org_id = $1 AND conversation_id = $2 AND upto = $3`,
      values: [
        ...[
          orgId,
          id,
          after,
          counted.turns,
          counted.failedTurns,
          decimalOf(counted.failedTurnsCost),
          counted.startWaitMs,
        ],
        ...[counted.approvalWaitsMs, counted.upto, head, updatedAt],
      ],
    });
  });
}

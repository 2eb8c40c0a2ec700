import { randomUUID } from 'node:crypto';
import { DELETION_GRACE_HOURS } from '@slipway/contracts/conversations';
import { type Columns, inOrgWithDeleted, type SqlPool, showDeleted } from '@slipway/db/sql';
import { system } from './conversation.queries.js';

/** Conversations of one round. */
const BATCH = 500;
const HOUR_MS = 3_600_000;

/**
 * Removes the rows of conversations whose time in the trash is over, each in one transaction with the job that deletes
 * everything else. One that is restored meanwhile stays. Safe to repeat, and to end at any point.
 * @returns those whose job is to be queued.
 */
export async function endTrash(pool: SqlPool, now: Date): Promise<Array<{ orgId: string; id: string }>> {
  const before = new Date(now.getTime() - DELETION_GRACE_HOURS * HOUR_MS);
  const due = await system(pool, 'end of the trash', async (client) => {
    await showDeleted(client);
    const { rows } = await client.query<Columns<'app.conversation', 'id'> & { orgId: string }>(
      'SELECT id, org_id AS "orgId" FROM app.conversation WHERE deleted_at IS NOT NULL AND deleted_at <= $1 ORDER BY deleted_at LIMIT $2',
      [before, BATCH],
    );
    return rows;
  });
  const ended: Array<{ orgId: string; id: string }> = [];
  for (const { orgId, id } of due) if (await endOne(pool, orgId, id, before)) ended.push({ orgId, id });
  return ended;
}

/** @returns false when it was restored, or another worker has ended it. */
function endOne(pool: SqlPool, orgId: string, id: string, before: Date): Promise<boolean> {
  return inOrgWithDeleted(pool, orgId, async (client) => {
    const { rowCount } = await client.query(
      'SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2 AND deleted_at <= $3 FOR UPDATE',
      [orgId, id, before],
    );
    if (rowCount === 0) return false;
    await client.query('DELETE FROM app.outbox WHERE org_id = $1 AND key = $2', [orgId, id]);
    await client.query('SELECT app.delete_conversation($1, $2)', [orgId, id]);
    await client.query(
      `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at) VALUES ($1, $2, 'conversation-delete', $3, $4::jsonb, clock_timestamp())`,
      [randomUUID(), orgId, id, JSON.stringify({ orgId, conversationId: id })],
    );
    return true;
  });
}

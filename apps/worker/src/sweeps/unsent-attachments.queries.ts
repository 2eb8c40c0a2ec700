import type { Columns, SqlPool } from '@slipway/db/sql';
import { lockConversation, system } from '../conversations/conversation.queries.js';

/** Conversations of one round. */
const BATCH = 200;

/**
 * Deletes files that were uploaded and not sent in time, one conversation after the other, under its row's lock: a
 * message that takes one along comes before or after. @returns how many files.
 */
export async function removeUnsentAttachments(pool: SqlPool): Promise<number> {
  const due = await system(pool, 'retention', async (client) => {
    const { rows } = await client.query<{ orgId: string; conversationId: string }>(
      `SELECT DISTINCT org_id AS "orgId", conversation_id AS "conversationId" FROM app.attachment
       WHERE message_id IS NULL AND conversation_id IS NOT NULL AND expires_at < now() LIMIT $1`,
      [BATCH],
    );
    return rows;
  });
  let removed = await removePending(pool);
  for (const { orgId, conversationId } of due)
    removed += await system(pool, 'retention', async (client) => {
      await lockConversation(client, conversationId);
      const { rows } = await client.query<Columns<'app.attachment', 'bytes'>>(
        `DELETE FROM app.attachment WHERE org_id = $1 AND conversation_id = $2 AND message_id IS NULL AND expires_at < now() RETURNING bytes`,
        [orgId, conversationId],
      );
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
      await client.query(`SELECT app.count_storage($1, $2::uuid, 0, $3::bigint, 0, 'platform')`, [
        orgId,
        conversationId,
        -bytes,
      ]);
      return rows.length;
    });
  return removed;
}

/** Of those that wait for a conversation. One that is just given to one is left: its row is looked at again. */
function removePending(pool: SqlPool): Promise<number> {
  return system(pool, 'retention', async (client) => {
    const { rowCount } = await client.query(
      `DELETE FROM app.attachment WHERE conversation_id IS NULL AND expires_at < now()
         AND ctid = ANY (ARRAY(SELECT ctid FROM app.attachment WHERE conversation_id IS NULL AND expires_at < now() LIMIT $1))`,
      [BATCH],
    );
    return rowCount ?? 0;
  });
}

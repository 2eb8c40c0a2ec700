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
       WHERE message_id IS NULL AND expires_at < now() LIMIT $1`,
      [BATCH],
    );
    return rows;
  });
  let removed = 0;
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

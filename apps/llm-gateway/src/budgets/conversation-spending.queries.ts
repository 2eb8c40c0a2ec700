import type { ConversationSpending } from '@slipway/contracts/models';
import { inOrg, type SqlPool } from '@slipway/db/sql';

/**
 * From now on the keys of a conversation make calls of this user, and the conversation may spend no more than this in
 * all, over all its keys. One commit; every replica hears of it at that commit. Repeating it changes nothing.
 */
export function putConversationSpending(
  pool: SqlPool,
  conversationId: string,
  { org, user, userLabel, limitUsd }: ConversationSpending,
): Promise<void> {
  return inOrg(pool, org, async (client) => {
    await client.query(
      `UPDATE gateway.virtual_key SET user_id = $2, metadata = metadata || jsonb_build_object('user_id', $2::text, 'user_label', $3::text)
       WHERE conversation_id = $1 AND (revoked_at IS NULL OR revoked_at > now()) AND (user_id IS DISTINCT FROM $2 OR metadata->>'user_label' IS DISTINCT FROM $3)`,
      [conversationId, user, userLabel],
    );
    if (limitUsd === null) {
      await client.query(`DELETE FROM gateway.budget WHERE org_id = $1 AND kind = 'conversation' AND subject = $2`, [
        org,
        conversationId,
      ]);
      return;
    }
    await client.query(
      `INSERT INTO gateway.budget AS b (org_id, kind, subject, limit_usd, period) VALUES ($1, 'conversation', $2, $3, 'total')
       ON CONFLICT (org_id, kind, subject) DO UPDATE SET limit_usd = excluded.limit_usd, period = 'total'
         WHERE (b.limit_usd, b.period) IS DISTINCT FROM (excluded.limit_usd, 'total')`,
      [org, conversationId, limitUsd],
    );
  });
}

import type { PoolClient } from 'pg';

/**
 * What began a conversation: the provider of the thread it came from, `service-account`, or `user`. @returns `null`
 * when there is no such conversation.
 */
export async function readTrigger(
  client: Pick<PoolClient, 'query'>,
  orgId: string,
  conversationId: string,
): Promise<{ trigger: string } | null> {
  const { rows } = await client.query<{ trigger: string }>({
    name: 'conversation-trigger',
    text: `SELECT coalesce(
             (SELECT x.provider FROM app.integration_thread t JOIN app.integration_connection x ON x.id = t.connection_id
              WHERE t.org_id = $1 AND t.conversation_id = c.id ORDER BY t.created_at LIMIT 1),
             CASE WHEN EXISTS (SELECT 1 FROM app.service_account s WHERE s.org_id = $1 AND s.id = c.created_by) THEN 'service-account' ELSE 'user' END
           ) AS trigger
           FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2`,
    values: [orgId, conversationId],
  });
  return rows[0] ?? null;
}

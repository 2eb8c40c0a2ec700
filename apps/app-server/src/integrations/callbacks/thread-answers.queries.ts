import type { ThreadAnswer, ThreadAnswerState } from '@slipway/contracts/integrations';
import type { Columns, PoolClient } from '@slipway/db/sql';

export type ThreadAnswerRow = Columns<
  'app.thread_answer',
  'connection_id' | 'state' | 'url' | 'problem' | 'retry_at' | 'updated_at',
  { state: ThreadAnswerState }
> &
  Columns<'app.integration_connection', 'provider'> & {
    readonly kind: ThreadAnswer['kind'];
    readonly title: string;
    readonly thread_url: string | null;
  };

/** What threads show of a conversation, the oldest first. `null`: there is no such conversation. */
export async function listThreadAnswers(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  limit: number,
): Promise<ThreadAnswerRow[] | null> {
  const { rowCount } = await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [
    orgId,
    conversationId,
  ]);
  if (rowCount === 0) return null;
  const { rows } = await client.query<ThreadAnswerRow>(
    `SELECT CASE a.kind WHEN 'progress' THEN 'comment' ELSE a.kind END AS kind, a.connection_id, c.provider, coalesce(t.title, '') AS title, t.url AS thread_url, a.state, a.url, a.problem, a.retry_at, a.updated_at
     FROM app.thread_answer a JOIN app.integration_connection c ON c.id = a.connection_id
     LEFT JOIN app.integration_thread t ON t.connection_id = a.connection_id AND t.thread_key = a.thread_key
     WHERE a.org_id = $1 AND ((a.conversation_id = $2 AND a.kind = 'progress') OR a.effect_of = $2) ORDER BY a.created_at, a.id LIMIT $3`,
    [orgId, conversationId, limit],
  );
  return rows;
}

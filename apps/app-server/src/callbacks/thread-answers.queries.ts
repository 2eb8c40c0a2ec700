import type { ThreadAnswerState } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';

export interface ThreadAnswerRow {
  readonly connection_id: string;
  readonly provider: string;
  readonly title: string;
  readonly thread_url: string | null;
  readonly state: ThreadAnswerState;
  readonly url: string | null;
  readonly problem: string | null;
  readonly retry_at: Date | null;
  readonly updated_at: Date;
}

/** The progress comments of a conversation, the oldest thread first. `null`: there is no such conversation. */
export async function listThreadAnswers(client: PoolClient, orgId: string, conversationId: string, limit: number): Promise<ThreadAnswerRow[] | null> {
  const { rowCount } = await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [orgId, conversationId]);
  if (rowCount === 0) return null;
  const { rows } = await client.query<ThreadAnswerRow>(
    `SELECT a.connection_id, c.provider, coalesce(t.title, '') AS title, t.url AS thread_url, a.state, a.url, a.problem, a.retry_at, a.updated_at
     FROM app.thread_answer a JOIN app.integration_connection c ON c.id = a.connection_id
     LEFT JOIN app.integration_thread t ON t.connection_id = a.connection_id AND t.thread_key = a.thread_key
     WHERE a.org_id = $1 AND a.conversation_id = $2 AND a.kind = 'progress' ORDER BY a.created_at, a.id LIMIT $3`,
    [orgId, conversationId, limit],
  );
  return rows;
}

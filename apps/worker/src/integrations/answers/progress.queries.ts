import { BLOB_MARKER, ConversationEvent, type ConversationStatus, type ExecutionStatus, textOfContent } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';
import type { ConversationStatusState } from '@slipway/domain';
import type { ProgressFacts, PullOfConversation } from './progress.js';

/** A conversation works on one repository, or on few. */
const MAX_PULLS = 5;

export interface ReadProgress extends ProgressFacts {
  readonly orgSlug: string;
}

/** `null`: the conversation is gone. */
export async function readProgress(client: PoolClient, orgId: string, conversationId: string): Promise<ReadProgress | null> {
  const { rows } = await client.query<{ status: ConversationStatus; execution: ExecutionStatus; state: Partial<ConversationStatusState>; slug: string }>({
    name: 'read-progress',
    text: `SELECT c.status, c.execution_status AS execution, c.status_state AS state, o.slug FROM app.conversation c JOIN app.org o ON o.id = c.org_id
           WHERE c.org_id = $1 AND c.id = $2`,
    values: [orgId, conversationId],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { status, execution, state, slug } = row;
  const said = status === 'finished' && (await isOfThread(client, orgId, conversationId)) ? await lastWords(client, orgId, conversationId) : null;
  const { rows: pulls } = await client.query<PullOfConversation>({
    name: 'pulls-of-conversation',
    text: `SELECT number, url, state, CASE publish WHEN 'failed' THEN problem ->> 'code' END AS problem FROM app.pull_request
           WHERE org_id = $1 AND conversation_id = $2 ORDER BY created_at, id LIMIT $3`,
    values: [orgId, conversationId, MAX_PULLS],
  });
  return { status, execution, failure: state.failure ?? null, said, pulls, orgSlug: slug };
}

/** Whether what the agent answered last came from a thread. What came past the inbox did not. */
async function isOfThread(client: PoolClient, orgId: string, conversationId: string): Promise<boolean> {
  const { rows } = await client.query<{ fromThread: boolean | null }>({
    name: 'last-message-of-thread',
    text: `SELECT m.from_thread AS "fromThread" FROM (
             SELECT event_id FROM app.event WHERE org_id = $1 AND conversation_id = $2 AND kind = 'MessageEvent' AND (event -> 'source')::text = '"user"' ORDER BY seq DESC LIMIT 1
           ) e LEFT JOIN app.inbox_message m ON m.org_id = $1 AND m.id = e.event_id`,
    values: [orgId, conversationId],
  });
  return rows[0]?.fromThread === true;
}

/** As `finalResponse` of libs/agent reads it: the message of a `finish`, or the last plain answer. Read here and not by the database, which takes no NUL in a text. */
async function lastWords(client: PoolClient, orgId: string, conversationId: string): Promise<string | null> {
  const { rows } = await client.query<{ event: string }>({
    name: 'last-words',
    text: `SELECT event::text AS event FROM app.event WHERE org_id = $1 AND conversation_id = $2
             AND ((kind = 'MessageEvent' AND (event -> 'source')::text = '"agent"') OR (kind = 'ActionEvent' AND (event -> 'action' -> 'kind')::text = '"FinishAction"'))
           ORDER BY seq DESC LIMIT 1`,
    values: [orgId, conversationId],
  });
  const read = rows[0] === undefined ? undefined : ConversationEvent.safeParse(JSON.parse(rows[0].event)).data;
  if (read?.kind === 'MessageEvent') return withoutBlob(textOfContent(read.llm_message.content));
  const message = read?.kind === 'ActionEvent' ? read.action['message'] : undefined;
  return typeof message === 'string' ? withoutBlob(message) : null;
}

/** Of a text that was too long for its event, its beginning is there. */
const withoutBlob = (text: string): string => text.replace(BLOB_MARKER, '…');

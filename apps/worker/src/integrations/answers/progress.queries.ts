import { BLOB_MARKER, ConversationEvent, type ConversationStatus, type ExecutionStatus, textOfContent } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';
import type { ConversationStatusState } from '@slipway/domain';
import type { MessageThread } from '../acts.queries.js';
import type { ProgressFacts, PullOfConversation } from './progress.js';

/** A conversation works on one repository, or on few. */
const MAX_PULLS = 5;

export interface ReadProgress extends ProgressFacts {
  readonly orgSlug: string;
}

/** For one thread of the conversation. `null`: the conversation is gone. */
export async function readProgress(client: PoolClient, orgId: string, conversationId: string, thread: MessageThread): Promise<ReadProgress | null> {
  const { rows } = await client.query<{ status: ConversationStatus; execution: ExecutionStatus; state: Partial<ConversationStatusState>; slug: string }>({
    name: 'read-progress',
    text: `SELECT c.status, c.execution_status AS execution, c.status_state AS state, o.slug FROM app.conversation c JOIN app.org o ON o.id = c.org_id
           WHERE c.org_id = $1 AND c.id = $2`,
    values: [orgId, conversationId],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { status, execution, state, slug } = row;
  const words = status === 'finished' ? await lastWords(client, orgId, conversationId, thread) : { said: null, elsewhere: false };
  const { rows: pulls } = await client.query<PullOfConversation>({
    name: 'pulls-of-conversation',
    text: `SELECT number, url, state, CASE publish WHEN 'failed' THEN problem ->> 'code' END AS problem FROM app.pull_request
           WHERE org_id = $1 AND conversation_id = $2 ORDER BY created_at, id LIMIT $3`,
    values: [orgId, conversationId, MAX_PULLS],
  });
  return { status, execution, failure: state.failure ?? null, ...words, pulls, orgSlug: slug };
}

/**
 * What the agent said last, for a thread: an answer to what this thread asked, and to nothing that was asked elsewhere.
 * - All that the agent has heard since its words before, or else the last that it had heard, came from this thread. What came past the inbox came from none.
 * - Nothing that this thread asks is still without an answer.
 * As `finalResponse` of libs/agent reads it: the message of a `finish`, or the last plain answer. Read here and not by the database, which takes no NUL in a text.
 */
async function lastWords(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  thread: MessageThread,
): Promise<{ said: string | null; elsewhere: boolean }> {
  const { rows } = await client.query<{ event: string | null; own: boolean; mixed: boolean; unanswered: boolean }>({
    name: 'last-words',
    text: LAST_WORDS,
    values: [orgId, conversationId, thread.connectionId, thread.key],
  });
  const row = rows[0];
  if (row === undefined || row.unanswered) return { said: null, elsewhere: false };
  if (!row.own || row.mixed) return { said: null, elsewhere: true };
  return { said: row.event === null ? null : wordsOf(row.event), elsewhere: false };
}

/** A message of the release before does not say of which thread it is: it is of the only one, if there is only one. */
const LAST_WORDS = `
WITH words AS (
  SELECT seq, event::text AS event FROM app.event WHERE org_id = $1 AND conversation_id = $2
    AND ((kind = 'MessageEvent' AND (event -> 'source')::text = '"agent"') OR (kind = 'ActionEvent' AND (event -> 'action' -> 'kind')::text = '"FinishAction"'))
  ORDER BY seq DESC LIMIT 2
), last AS (
  SELECT coalesce(max(seq), 9223372036854775807) AS seq, CASE WHEN count(*) = 2 THEN min(seq) ELSE 0 END AS before, (SELECT event FROM words ORDER BY seq DESC LIMIT 1) AS event FROM words
), heard AS NOT MATERIALIZED (
  SELECT e.seq, coalesce(m.from_thread AND CASE WHEN m.thread_key IS NULL THEN
      (SELECT count(*) = 1 FROM app.integration_thread t WHERE t.org_id = $1 AND t.conversation_id = $2) ELSE m.thread_connection_id = $3 AND m.thread_key = $4 END, false) AS own
  FROM app.event e LEFT JOIN app.inbox_message m ON m.org_id = $1 AND m.id = e.event_id
  WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'MessageEvent' AND (e.event -> 'source')::text = '"user"'
)
SELECT last.event, coalesce((SELECT h.own FROM heard h WHERE h.seq < last.seq ORDER BY h.seq DESC LIMIT 1), false) AS own,
  EXISTS (SELECT 1 FROM heard h WHERE h.seq > last.before AND h.seq < last.seq AND NOT h.own) AS mixed,
  EXISTS (SELECT 1 FROM heard h WHERE h.seq > last.seq AND h.own) AS unanswered
FROM last`;

function wordsOf(event: string): string | null {
  const read = ConversationEvent.safeParse(JSON.parse(event)).data;
  if (read?.kind === 'MessageEvent') return withoutBlob(textOfContent(read.llm_message.content));
  const message = read?.kind === 'ActionEvent' ? read.action['message'] : undefined;
  return typeof message === 'string' ? withoutBlob(message) : null;
}

/** Of a text that was too long for its event, its beginning is there. */
const withoutBlob = (text: string): string => text.replace(BLOB_MARKER, '…');

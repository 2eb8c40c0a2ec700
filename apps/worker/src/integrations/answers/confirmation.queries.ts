import { ConfirmationAnswer } from '@slipway/contracts/conversations';
import { type ConversationEvent, type ExecutionStatus } from '@slipway/contracts/events';
import { readTail } from '@slipway/db/conversations';
import type { PoolClient } from '@slipway/db/sql';
import { pendingActions } from '@slipway/domain';
import { waitingActions } from '@slipway/integrations';
import type { MessageThread } from '../acts.queries.js';
import type { ProgressFacts } from './progress.js';

/**
 * What a thread may learn of what its agent asks for: nothing, where the agent works on what was asked elsewhere, too.
 */
export async function confirmationOf(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { thread, execution }: { readonly thread: MessageThread; readonly execution: ExecutionStatus },
): Promise<Required<Pick<ProgressFacts, 'waits' | 'answered'>>> {
  const { rows } = await client.query<{ own: boolean; mixed: boolean; answer: string | null; head: string }>({
    name: 'confirmation-of-thread',
    text: CONFIRMATION,
    values: [orgId, conversationId, thread.connectionId, thread.key],
  });
  const row = rows[0];
  if (row === undefined || !row.own || row.mixed) return { waits: null, answered: null };
  const answer = row.answer === null ? undefined : ConfirmationAnswer.safeParse(JSON.parse(row.answer)).data;
  const answered = answer === undefined ? null : { accepted: answer.accepted, by: answer.by ?? '' };
  if (execution !== 'waiting_for_confirmation') return { waits: null, answered };
  const pending = pendingActions(await readTail<ConversationEvent>(client, orgId, conversationId, Number(row.head)));
  return { waits: pending.length === 0 ? null : waitingActions(conversationId, pending), answered };
}

/** All that the agent heard since its last words, and the last that it heard, came from this thread. */
const CONFIRMATION = `
WITH words AS (
  SELECT coalesce(max(seq), 0) AS seq FROM app.event WHERE org_id = $1 AND conversation_id = $2
    AND ((kind = 'MessageEvent' AND (event -> 'source')::text = '"agent"') OR (kind = 'ActionEvent' AND (event -> 'action' -> 'kind')::text = '"FinishAction"'))
), heard AS (
  SELECT e.seq, coalesce(m.from_thread AND CASE WHEN m.thread_key IS NULL THEN
      (SELECT count(*) = 1 FROM app.integration_thread t WHERE t.org_id = $1 AND t.conversation_id = $2) ELSE m.thread_connection_id = $3 AND m.thread_key = $4 END, false) AS own
  FROM app.event e LEFT JOIN app.inbox_message m ON m.org_id = $1 AND m.id = e.event_id
  WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'MessageEvent' AND (e.event -> 'source')::text = '"user"'
), last AS (
  SELECT coalesce(max(seq), 0) AS seq FROM heard
)
SELECT coalesce((SELECT h.own FROM heard h ORDER BY h.seq DESC LIMIT 1), false) AS own,
  EXISTS (SELECT 1 FROM heard h, words WHERE h.seq > words.seq AND NOT h.own) AS mixed,
  (SELECT (e.event -> 'value')::text FROM app.event e, last WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'ConversationStateUpdateEvent'
     AND (e.event -> 'key')::text = '"confirmation"' AND e.seq > last.seq ORDER BY e.seq DESC LIMIT 1) AS answer,
  (SELECT c.head FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2)::text AS head`;

import { type ConversationStatus } from '@slipway/contracts/conversations';
import { BLOB_MARKER, ConversationEvent, type ExecutionStatus, textOfContent } from '@slipway/contracts/events';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { ConversationStatusState } from '@slipway/domain';
import type { MessageThread } from '../acts.queries.js';
import { confirmationOf } from './confirmation.queries.js';
import type { ProgressFacts, PullOfConversation, StepNow, WorkDone } from './progress.js';

/** A conversation works on one repository, or on few. */
const MAX_PULLS = 5;

export interface ReadProgress extends ProgressFacts {
  readonly orgSlug: string;
}

export interface ProgressRead {
  readonly thread: MessageThread;
  readonly shows: { readonly follows: boolean; readonly buttons: boolean };
}

/**
 * For one thread of the conversation. `null`: the conversation is gone. @param shows.follows what the agent has done is
 * counted. @param shows.buttons what waits for a yes or a no is read.
 */
export async function readProgress(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { thread, shows }: ProgressRead,
): Promise<ReadProgress | null> {
  const { rows } = await client.query<
    Columns<'app.conversation', 'status', { status: ConversationStatus }> &
      Columns<'app.org', 'slug'> & { execution: ExecutionStatus; state: Partial<ConversationStatusState> }
  >({
    name: 'read-progress',
    text: `SELECT c.status, c.execution_status AS execution, c.status_state AS state, o.slug FROM app.conversation c JOIN app.org o ON o.id = c.org_id
           WHERE c.org_id = $1 AND c.id = $2`,
    values: [orgId, conversationId],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { follows, buttons } = shows;
  const { status, execution, state, slug } = row;
  const words =
    status === 'finished' ? await lastWords(client, orgId, conversationId, thread) : { said: null, elsewhere: false };
  const pulls = await readPulls(client, orgId, conversationId);
  const work = follows ? { work: await workOf(client, orgId, conversationId, thread) } : {};
  const asked = buttons ? await confirmationOf(client, orgId, conversationId, { thread, execution }) : {};
  return { status, execution, failure: state.failure ?? null, ...words, ...work, ...asked, pulls, orgSlug: slug };
}

async function readPulls(client: PoolClient, orgId: string, conversationId: string): Promise<PullOfConversation[]> {
  const { rows } = await client.query<PullOfConversation>({
    name: 'pulls-of-conversation',
    text: `SELECT number, url, state, CASE publish WHEN 'failed' THEN problem ->> 'code' END AS problem FROM app.pull_request
           WHERE org_id = $1 AND conversation_id = $2 ORDER BY created_at, id LIMIT $3`,
    values: [orgId, conversationId, MAX_PULLS],
  });
  return rows;
}

/** `null`: the conversation is gone. */
export async function readEffectFacts(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<{ readonly orgSlug: string; readonly pulls: readonly PullOfConversation[] } | null> {
  const { rows } = await client.query<Columns<'app.org', 'slug'>>({
    name: 'slug-of-conversation',
    text: 'SELECT o.slug FROM app.conversation c JOIN app.org o ON o.id = c.org_id WHERE c.org_id = $1 AND c.id = $2',
    values: [orgId, conversationId],
  });
  return rows[0] === undefined
    ? null
    : { orgSlug: rows[0].slug, pulls: await readPulls(client, orgId, conversationId) };
}

/** Actions of one request that are counted; who does more has done a lot. */
const MAX_COUNTED = 2_000;

/**
 * What the agent has done since it last heard something, by kinds of actions. Nothing of it when that came from
 * elsewhere.
 */
async function workOf(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  thread: MessageThread,
): Promise<WorkDone> {
  const { rows } = await client.query<{
    seq: string;
    own: boolean;
    kind: string | null;
    views: boolean;
    count: number;
  }>({
    name: 'work-of-conversation',
    text: WORK,
    values: [orgId, conversationId, thread.connectionId, thread.key, MAX_COUNTED],
  });
  const [first] = rows;
  if (first === undefined) return { heard: '0', kinds: {} };
  const kinds = new Map<string, number>();
  for (const { kind, views, count } of first.own ? rows : []) {
    const name = kind === null ? null : views ? 'view' : kind.slice(1, -1);
    if (name !== null) kinds.set(name, (kinds.get(name) ?? 0) + count);
  }
  return { heard: first.seq, kinds: Object.fromEntries(kinds) };
}

/** `null`: the conversation is gone. */
export async function readStep(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  thread: MessageThread,
): Promise<StepNow | null> {
  const { rows } = await client.query<{
    status: ConversationStatus;
    execution: ExecutionStatus;
    kind: string | null;
    views: boolean | null;
  }>({
    name: 'step-of-conversation',
    text: STEP,
    values: [orgId, conversationId, thread.connectionId, thread.key],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { status, execution, kind, views } = row;
  return { status, execution, kind: kind === null ? null : views === true ? 'view' : kind.slice(1, -1) };
}

/** Of the last action alone, and of none where the agent last heard something from elsewhere. */
const STEP = `
SELECT c.status, c.execution_status AS execution, a.kind, a.views
FROM app.conversation c
LEFT JOIN LATERAL (
  SELECT e.seq, coalesce(m.from_thread AND m.thread_connection_id = $3 AND m.thread_key = $4, false) AS own
  FROM app.event e LEFT JOIN app.inbox_message m ON m.org_id = $1 AND m.id = e.event_id
  WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'MessageEvent' AND (e.event -> 'source')::text = '"user"' ORDER BY e.seq DESC LIMIT 1
) h ON true
LEFT JOIN LATERAL (
  SELECT (e.event -> 'action' -> 'kind')::text AS kind, coalesce((e.event -> 'action' -> 'command')::text = '"view"', false) AS views
  FROM app.event e WHERE h.own AND e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'ActionEvent' AND e.seq > h.seq ORDER BY e.seq DESC LIMIT 1
) a ON true
WHERE c.org_id = $1 AND c.id = $2`;

/** As the kinds of JSON strings, since no text of the database holds a NUL that one may have. */
const WORK = `
WITH heard AS (
  SELECT e.seq, coalesce(m.from_thread AND m.thread_connection_id = $3 AND m.thread_key = $4, false) AS own
  FROM app.event e LEFT JOIN app.inbox_message m ON m.org_id = $1 AND m.id = e.event_id
  WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'MessageEvent' AND (e.event -> 'source')::text = '"user"' ORDER BY e.seq DESC LIMIT 1
)
SELECT h.seq::text AS seq, h.own, a.kind, coalesce(a.views, false) AS views, coalesce(a.count, 0)::int AS count
FROM heard h LEFT JOIN LATERAL (
  SELECT t.kind, t.views, count(*) AS count FROM (
    SELECT (e.event -> 'action' -> 'kind')::text AS kind, coalesce((e.event -> 'action' -> 'command')::text = '"view"', false) AS views
    FROM app.event e WHERE e.org_id = $1 AND e.conversation_id = $2 AND e.kind = 'ActionEvent' AND e.seq > h.seq ORDER BY e.seq LIMIT $5
  ) t GROUP BY t.kind, t.views
) a ON true`;

/**
 * What the agent said last, for a thread: an answer to what this thread asked, and to nothing that was asked elsewhere.
 * - All that the agent has heard since its words before, or else the last that it had heard, came from this thread.
 *   What came past the inbox came from none.
 * - Nothing that this thread asks is still without an answer. As `finalResponse` of libs/agent reads it: the message of
 *   a `finish`, or the last plain answer. Read here and not by the database, which takes no NUL in a text.
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

import { createHash } from 'node:crypto';
import type {
  CreateReviewComment,
  ReviewAnchor,
  ReviewComment,
  ReviewThread,
  SetViewedFile,
  ViewedFile,
} from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import type { Columns, PoolClient } from '@slipway/db/sql';

type ThreadRow = Columns<
  'app.review_thread',
  'id' | 'number' | 'anchor' | 'created_at' | 'resolved_at' | 'resolved_by_label',
  { anchor: ReviewAnchor }
>;
type CommentRow = Columns<
  'app.review_comment',
  'id' | 'thread_id' | 'text' | 'suggestion' | 'created_by' | 'created_by_label' | 'created_at' | 'message_id'
>;

/** A conversation of an organization, for each statement of its review. */
export interface Place {
  readonly orgId: string;
  readonly id: string;
}

/** Threads with their comments and without answers, oldest first; with `thread` that one alone. */
export async function listThreads(client: PoolClient, { orgId, id }: Place, thread?: string): Promise<ReviewThread[]> {
  const { rows } = await client.query<ThreadRow>({
    name: 'review-threads',
    text: `SELECT id, number, anchor, created_at, resolved_at, resolved_by_label FROM app.review_thread
           WHERE org_id = $1 AND conversation_id = $2 AND ($3::uuid IS NULL OR id = $3) ORDER BY number`,
    values: [orgId, id, thread ?? null],
  });
  const comments = await client.query<CommentRow>({
    name: 'review-comments',
    text: `SELECT id, thread_id, text, suggestion, created_by, created_by_label, created_at, message_id FROM app.review_comment
           WHERE org_id = $1 AND conversation_id = $2 AND ($3::uuid IS NULL OR thread_id = $3) ORDER BY created_at, id`,
    values: [orgId, id, thread ?? null],
  });
  const byThread = Map.groupBy(comments.rows, (row) => row.thread_id);
  return rows.map((row) => ({
    id: row.id,
    number: row.number,
    anchor: row.anchor,
    comments: (byThread.get(row.id) ?? []).map(toComment),
    answers: [],
    createdAt: row.created_at.toISOString(),
    resolvedAt: row.resolved_at?.toISOString() ?? null,
    resolvedBy: row.resolved_by_label,
  }));
}

function toComment(row: CommentRow): ReviewComment {
  return {
    id: row.id,
    text: row.text,
    suggestion: row.suggestion,
    author: { id: row.created_by, label: row.created_by_label },
    createdAt: row.created_at.toISOString(),
    messageId: row.message_id,
  };
}

/** How many there are. For a caller that holds the conversation's row. */
export async function countReview(
  client: PoolClient,
  { orgId, id }: Place,
): Promise<{ threads: number; comments: number; next: number }> {
  const { rows } = await client.query<{ threads: number; comments: number; next: number }>({
    name: 'review-count',
    text: `SELECT count(*)::int AS threads, coalesce(max(number), 0)::int + 1 AS next,
             (SELECT count(*)::int FROM app.review_comment WHERE org_id = $1 AND conversation_id = $2) AS comments
           FROM app.review_thread WHERE org_id = $1 AND conversation_id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? { threads: 0, comments: 0, next: 1 };
}

/** False when there is one under this id. */
export async function insertThread(
  client: PoolClient,
  { orgId, id }: Place,
  thread: { id: string; number: number; anchor: ReviewAnchor; at: Date },
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'review-insert-thread',
    text: `INSERT INTO app.review_thread (id, org_id, conversation_id, number, anchor, created_at) VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (id) DO NOTHING`,
    values: [thread.id, orgId, id, thread.number, JSON.stringify(thread.anchor), thread.at],
  });
  return rowCount === 1;
}

/** One that is there already under this id stays as it is. */
export async function insertComment(
  client: PoolClient,
  { orgId, actor }: Principal,
  comment: CreateReviewComment & { id: string; conversation: string; thread: string; at: Date },
): Promise<void> {
  await client.query({
    name: 'review-insert-comment',
    text: `INSERT INTO app.review_comment (id, org_id, conversation_id, thread_id, text, suggestion, created_by, created_by_label, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
    values: [
      comment.id,
      orgId,
      comment.conversation,
      comment.thread,
      comment.text,
      comment.suggestion ?? null,
      actor.id,
      actor.label,
      comment.at,
    ],
  });
}

/** Deletes a comment, and its thread when that has no other. */
export async function deleteComment(
  client: PoolClient,
  { orgId, id }: Place,
  { thread, comment }: { thread: string; comment: string },
): Promise<void> {
  await client.query(
    'DELETE FROM app.review_comment WHERE org_id = $1 AND conversation_id = $2 AND thread_id = $3 AND id = $4 AND message_id IS NULL',
    [orgId, id, thread, comment],
  );
  await client.query(
    `DELETE FROM app.review_thread t WHERE t.org_id = $1 AND t.conversation_id = $2 AND t.id = $3
       AND NOT EXISTS (SELECT 1 FROM app.review_comment c WHERE c.thread_id = t.id)`,
    [orgId, id, thread],
  );
}

/** Keeps who resolved it first. False when there is no such thread. */
export async function resolveThread(
  client: PoolClient,
  { orgId, id }: Place,
  thread: string,
  by: { at: Date; label: string } | null,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'review-resolve',
    text: `UPDATE app.review_thread SET
             resolved_at = CASE WHEN $4::timestamptz IS NULL THEN NULL ELSE coalesce(resolved_at, $4) END,
             resolved_by_label = CASE WHEN $4::timestamptz IS NULL THEN NULL ELSE coalesce(resolved_by_label, $5) END
           WHERE org_id = $1 AND conversation_id = $2 AND id = $3`,
    values: [orgId, id, thread, by?.at ?? null, by?.label ?? null],
  });
  return rowCount === 1;
}

/** Marks comments as sent with a message. */
export async function markSent(
  client: PoolClient,
  { orgId, id }: Place,
  { message, comments }: { message: string; comments: readonly string[] },
): Promise<void> {
  await client.query({
    name: 'review-mark-sent',
    text: 'UPDATE app.review_comment SET message_id = $3 WHERE org_id = $1 AND conversation_id = $2 AND id = ANY($4::uuid[])',
    values: [orgId, id, message, comments],
  });
}

export async function listViewed(client: PoolClient, { orgId, id }: Place, userId: string): Promise<ViewedFile[]> {
  const { rows } = await client.query<ViewedFile>({
    name: 'review-viewed',
    text: 'SELECT path, hash FROM app.review_viewed WHERE org_id = $1 AND conversation_id = $2 AND user_id = $3 ORDER BY path',
    values: [orgId, id, userId],
  });
  return rows;
}

/** False when the user has viewed `most` files already and this would be another. */
export async function setViewed(
  client: PoolClient,
  { orgId, id }: Place,
  { userId, path, hash, most }: SetViewedFile & { userId: string; most: number },
): Promise<boolean> {
  const pathHash = createHash('sha256').update(path).digest();
  if (hash === null) {
    await client.query({
      name: 'review-not-viewed',
      text: 'DELETE FROM app.review_viewed WHERE org_id = $1 AND conversation_id = $2 AND user_id = $3 AND path_hash = $4',
      values: [orgId, id, userId, pathHash],
    });
    return true;
  }
  const { rowCount } = await client.query({
    name: 'review-set-viewed',
    text: `INSERT INTO app.review_viewed (org_id, conversation_id, user_id, path_hash, path, hash)
           SELECT $1, $2::uuid, $3, $4::bytea, $5, $6
           WHERE (SELECT count(*) FROM app.review_viewed v WHERE v.org_id = $1 AND v.conversation_id = $2 AND v.user_id = $3 AND v.path_hash <> $4) < $7
           ON CONFLICT (conversation_id, user_id, path_hash) DO UPDATE SET hash = excluded.hash`,
    values: [orgId, id, userId, pathHash, path, hash, most],
  });
  return rowCount === 1;
}

/** Text of an agent that may answer threads. */
export interface AgentText {
  readonly seq: number;
  readonly at: string;
  readonly text: string;
}

/** Most events that are looked at for answers; those of a longer run are the newest. */
const MAX_ANSWER_EVENTS = 200;
/** Longest text of one that is read. UTF-16 code units. */
const MAX_TEXT = 200_000;

/**
 * What the agent said after the first of these messages that may answer a thread: its messages, and the words that it
 * finished with.
 */
export async function listAgentTexts(
  client: PoolClient,
  { orgId, id }: Place,
  messages: readonly string[],
): Promise<AgentText[]> {
  const { rows } = await client.query<{ seq: string; at: Date; text: string | null }>({
    name: 'review-agent-texts',
    text: `SELECT e.seq::text AS seq, e.created_at AS at,
             left(CASE e.kind WHEN 'MessageEvent' THEN e.event::jsonb #>> '{llm_message,content,0,text}' ELSE e.event::jsonb #>> '{action,message}' END, ${MAX_TEXT}) AS text
           FROM app.event e
           WHERE e.org_id = $1 AND e.conversation_id = $2
             AND e.seq > (SELECT min(m.seq) FROM app.event m WHERE m.org_id = $1 AND m.conversation_id = $2 AND m.event_id = ANY($3::uuid[]))
             AND e.kind IN ('MessageEvent', 'ActionEvent') AND e.event ->> 'source' = 'agent'
             AND (e.kind = 'MessageEvent' OR e.event #>> '{action,kind}' = 'FinishAction')
             AND e.event::text ~* 'thread *#?[0-9]'
           ORDER BY e.seq DESC LIMIT ${MAX_ANSWER_EVENTS}`,
    values: [orgId, id, messages],
  });
  return rows
    .map(({ seq, at, text }) => ({ seq: Number(seq), at: at.toISOString(), text: text ?? '' }))
    .sort((one, other) => one.seq - other.seq);
}

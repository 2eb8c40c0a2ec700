import { randomBytes, randomUUID } from 'node:crypto';
import type { ConnectionSettings } from '@slipway/contracts/integrations';
import type { Columns, PoolClient } from '@slipway/db/sql';
import type { Asked, Thread } from '@slipway/integrations';
import { type StoredConnection, wantNoticeJob } from '@slipway/integrations/deliveries';

/** A random marker of a comment of ours. */
const newMarker = (): string => randomBytes(16).toString('hex');

/** A request is shown to be seen, once a deed. */
export async function wantSeen(
  client: PoolClient,
  orgId: string,
  seen: {
    readonly connectionId: string;
    readonly thread: Thread;
    readonly deed: string;
    readonly conversationId: string;
    readonly asked: Asked;
  },
): Promise<void> {
  await client.query({
    name: 'want-seen',
    text: `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, subject, conversation_id, place, detail, marker)
           VALUES ($1, $2, $3, $4, 'seen', $5, $6, $7::jsonb, $8::jsonb, $9) ON CONFLICT DO NOTHING`,
    values: [
      randomUUID(),
      orgId,
      seen.connectionId,
      seen.thread.key,
      seen.deed,
      seen.conversationId,
      JSON.stringify(seen.thread.place),
      JSON.stringify(seen.asked),
      newMarker(),
    ],
  });
}

/**
 * The same before it is known what will become of it, with a job of its own. @returns what to show; `null`: it was
 * wanted already.
 */
export async function wantSeenAtOnce(
  client: PoolClient,
  orgId: string,
  seen: { readonly connectionId: string; readonly thread: Thread; readonly deed: string; readonly asked: Asked },
): Promise<string | null> {
  const id = randomUUID();
  const { rowCount } = await client.query({
    name: 'want-seen-at-once',
    text: `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, subject, place, detail, marker)
           VALUES ($1, $2, $3, $4, 'seen', $5, $6::jsonb, $7::jsonb, $8) ON CONFLICT DO NOTHING`,
    values: [
      id,
      orgId,
      seen.connectionId,
      seen.thread.key,
      seen.deed,
      JSON.stringify(seen.thread.place),
      JSON.stringify(seen.asked),
      newMarker(),
    ],
  });
  if (rowCount !== 1) return null;
  await wantNoticeJob(client, orgId, id);
  return id;
}

/** A new request: a given-up answer is tried once more. A missing comment is searched for before another is made. */
export async function tryAgain(client: PoolClient, orgId: string, conversationId: string): Promise<void> {
  await client.query({
    name: 'try-answers-again',
    text: `UPDATE app.thread_answer SET state = 'waiting', attempts = 0, failing_since = NULL, retry_at = NULL, problem = NULL, shown = NULL,
             tried_at = CASE WHEN external_id IS NULL THEN created_at ELSE tried_at END
           WHERE org_id = $1 AND (conversation_id = $2 OR effect_of = $2) AND state = 'given-up'`,
    values: [orgId, conversationId],
  });
}

export async function wantAnswer(client: PoolClient, orgId: string, conversationId: string): Promise<void> {
  await client.query({ name: 'want-answer', text: 'SELECT app.want_answer($1, $2)', values: [orgId, conversationId] });
}

/**
 * What an answer is: `seen` a reaction, `progress` the one comment, `notice` a refusal, `choice` asks for a repository,
 * `reply` answers a line comment; the others are effects beside the comment.
 */
export type AnswerKind = 'seen' | 'progress' | 'notice' | 'choice' | 'link' | 'move' | 'reply' | 'status';

/** A thread of a conversation, with what of its connection says how it is answered. */
export type ThreadToAnswer = Columns<
  'app.integration_connection',
  'provider' | 'settings',
  { settings: ConnectionSettings }
> & {
  readonly connectionId: string;
  readonly key: string;
};

export async function threadsToAnswer(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<ThreadToAnswer[]> {
  const { rows } = await client.query<ThreadToAnswer>({
    name: 'threads-to-answer',
    text: `SELECT t.connection_id AS "connectionId", t.thread_key AS key, n.provider, n.settings
           FROM app.integration_thread t JOIN app.integration_connection n ON n.id = t.connection_id WHERE t.org_id = $1 AND t.conversation_id = $2`,
    values: [orgId, conversationId],
  });
  return rows;
}

/** Each thread has one progress comment. */
export async function wantProgress(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { connectionId, key }: ThreadToAnswer,
): Promise<void> {
  await client.query({
    name: 'want-progress',
    text: `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, conversation_id, place, marker)
           SELECT $5, $1, t.connection_id, t.thread_key, 'progress', c.id, t.place, $6
           FROM app.integration_thread t JOIN app.conversation c ON c.id = t.conversation_id
           WHERE t.org_id = $1 AND t.conversation_id = $2 AND t.connection_id = $3 AND t.thread_key = $4
           ON CONFLICT (connection_id, thread_key, kind, subject) DO NOTHING`,
    values: [orgId, conversationId, connectionId, key, randomUUID(), newMarker()],
  });
}

export interface WantedEffect {
  readonly thread: ThreadToAnswer;
  readonly effect: { readonly kind: 'link' | 'move' | 'status'; readonly subject: string; readonly detail: object };
}

/** An effect, once by its subject; what it is to show may change. */
export async function wantEffect(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { thread: { connectionId, key }, effect }: WantedEffect,
): Promise<void> {
  await client.query({
    name: 'want-effect',
    text: `INSERT INTO app.thread_answer (id, org_id, connection_id, thread_key, kind, subject, effect_of, place, detail, marker)
           SELECT $5, $1, t.connection_id, t.thread_key, $6, $7, t.conversation_id, t.place, $8::jsonb, $9
           FROM app.integration_thread t WHERE t.org_id = $1 AND t.conversation_id = $2 AND t.connection_id = $3 AND t.thread_key = $4
           ON CONFLICT (connection_id, thread_key, kind, subject) DO UPDATE SET detail = excluded.detail WHERE app.thread_answer.detail <> excluded.detail`,
    values: [
      orgId,
      conversationId,
      connectionId,
      key,
      randomUUID(),
      effect.kind,
      effect.subject,
      JSON.stringify(effect.detail),
      newMarker(),
    ],
  });
}

/** What there is to bring up to date for a conversation, in its order: first that it was seen, and the ticket last. */
export async function answersOf(client: PoolClient, orgId: string, conversationId: string): Promise<string[]> {
  const { rows } = await client.query<Columns<'app.thread_answer', 'id'>>({
    name: 'answers-of-conversation',
    text: `SELECT id FROM app.thread_answer WHERE org_id = $1 AND (conversation_id = $2 OR effect_of = $2) AND state <> 'given-up'
           ORDER BY array_position(ARRAY['seen', 'link', 'progress', 'reply', 'move', 'status'], kind), created_at, id`,
    values: [orgId, conversationId],
  });
  return rows.map(({ id }) => id);
}

export interface AnswerRow {
  readonly id: string;
  readonly kind: AnswerKind;
  readonly subject: string;
  readonly conversationId: string | null;
  readonly threadKey: string;
  readonly place: Thread['place'];
  readonly detail: unknown;
  readonly marker: string;
  readonly revision: number;
  readonly state: 'waiting' | 'shown' | 'given-up';
  readonly externalId: string | null;
  readonly shown: string | null;
  readonly editedAt: Date | null;
  readonly triedAt: Date | null;
  readonly turn: number;
  readonly attempts: number;
  readonly failingSince: Date | null;
  readonly retryAt: Date | null;
  /** Until another job's turn is over. Milliseconds; `null`: no other job's turn. */
  readonly busyMs: number | null;
  readonly createdAt: Date;
  readonly connection: StoredConnection;
  readonly limitedUntil: Date | null;
  readonly pacedUntil: Date | null;
}

/**
 * The answer with its connection, both locked until the transaction ends: calls of one connection are counted one after
 * the other.
 */
export async function lockAnswer(client: PoolClient, orgId: string, id: string): Promise<AnswerRow | null> {
  const { rows } = await client.query<AnswerRow>({
    name: 'lock-thread-answer',
    text: `SELECT a.id, a.kind, a.subject, a.revision, coalesce(a.conversation_id, a.effect_of) AS "conversationId", a.thread_key AS "threadKey", a.place, a.detail, a.marker, a.state, a.external_id AS "externalId", a.shown, a.edited_at AS "editedAt",
             a.tried_at AS "triedAt", a.turn, a.attempts, a.failing_since AS "failingSince", a.retry_at AS "retryAt", a.created_at AS "createdAt",
             CASE WHEN a.busy_until > clock_timestamp() THEN (extract(epoch FROM a.busy_until - clock_timestamp()) * 1000)::float8 END AS "busyMs",
             jsonb_build_object('id', c.id, 'provider', c.provider, 'host', c.host, 'account', c.account, 'state', c.state, 'own', c.own, 'settings', c.settings) AS connection,
             c.limited_until AS "limitedUntil", c.paced_until AS "pacedUntil"
           FROM app.thread_answer a JOIN app.integration_connection c ON c.id = a.connection_id WHERE a.org_id = $1 AND a.id = $2 FOR NO KEY UPDATE`,
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

/** Takes the turn to call the provider, and a place in the pace of its connection. @returns the number of the turn. */
export async function takeTurn(
  client: PoolClient,
  orgId: string,
  row: AnswerRow,
  { now, leaseMs, pacedUntil }: { readonly now: Date; readonly leaseMs: number; readonly pacedUntil: Date },
): Promise<number> {
  await client.query({
    name: 'pace-connection',
    text: 'UPDATE app.integration_connection SET paced_until = $3 WHERE org_id = $1 AND id = $2',
    values: [orgId, row.connection.id, pacedUntil],
  });
  await client.query({
    name: 'take-answer-turn',
    text: `UPDATE app.thread_answer SET turn = turn + 1, busy_until = clock_timestamp() + $3 * interval '1 millisecond', state = 'waiting', updated_at = now(),
             tried_at = CASE WHEN external_id IS NULL AND kind IN ('progress', 'notice', 'choice', 'reply') THEN coalesce(tried_at, $4) END
           WHERE org_id = $1 AND id = $2`,
    values: [orgId, row.id, leaseMs, now],
  });
  return row.turn + 1;
}

export interface EndedTurn {
  readonly turn: number;
  readonly result: {
    readonly state: AnswerRow['state'];
    readonly written?: { readonly id: string; readonly url: string | null };
    readonly shown?: string | null;
    readonly editedAt?: Date;
    /** Nothing of this turn has had an effect, or it is known which: nothing has to be searched for. */
    readonly certain: boolean;
    readonly failure?: { readonly problem: string; readonly at: Date; readonly retryAt: Date | null };
  };
}

/** What came of a turn. No-op when the turn was over before: another job has it then. */
export async function endTurn(
  client: PoolClient,
  orgId: string,
  id: string,
  { turn, result }: EndedTurn,
): Promise<void> {
  const { state, written, shown, editedAt, certain, failure } = result;
  await client.query({
    name: 'end-answer-turn',
    text: `UPDATE app.thread_answer SET state = $4, busy_until = NULL, updated_at = now(), external_id = coalesce($5, external_id), url = coalesce($6, url),
             shown = coalesce($7, shown), revision = revision + CASE WHEN $7::text IS NULL THEN 0 ELSE 1 END, edited_at = coalesce($8, edited_at), tried_at = CASE WHEN $9 THEN NULL ELSE tried_at END,
             attempts = CASE WHEN $10::text IS NULL THEN 0 ELSE attempts + 1 END, problem = left($10, 500),
             failing_since = CASE WHEN $10::text IS NULL THEN NULL ELSE coalesce(failing_since, $11) END, retry_at = $12
           WHERE org_id = $1 AND id = $2 AND turn = $3`,
    values: [
      orgId,
      id,
      turn,
      state,
      written?.id ?? null,
      written?.url ?? null,
      shown ?? null,
      editedAt ?? null,
      certain,
      failure?.problem ?? null,
      failure?.at ?? null,
      failure?.retryAt ?? null,
    ],
  });
}

export async function noteResting(
  client: PoolClient,
  orgId: string,
  id: string,
  { state, problem, now }: { readonly state: AnswerRow['state']; readonly problem: string; readonly now: Date },
): Promise<void> {
  await client.query(
    'UPDATE app.thread_answer SET state = $3, problem = $4, failing_since = coalesce(failing_since, $5), updated_at = now() WHERE org_id = $1 AND id = $2',
    [orgId, id, state, problem, now],
  );
}

/** The comment is gone at the provider. */
export async function forgetComment(client: PoolClient, orgId: string, id: string, turn: number): Promise<void> {
  await client.query(
    'UPDATE app.thread_answer SET external_id = NULL, url = NULL, shown = NULL WHERE org_id = $1 AND id = $2 AND turn = $3',
    [orgId, id, turn],
  );
}

export async function dropAnswer(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query({
    name: 'drop-thread-answer',
    text: 'DELETE FROM app.thread_answer WHERE org_id = $1 AND id = $2',
    values: [orgId, id],
  });
}

/** The connection is not called before then. */
export async function limitConnection(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  until: Date,
): Promise<void> {
  await client.query(
    'UPDATE app.integration_connection SET limited_until = greatest(limited_until, $3) WHERE org_id = $1 AND id = $2',
    [orgId, connectionId, until],
  );
}

import type { Columns, PoolClient, SqlPool } from '@slipway/db/sql';
import { system } from '../conversations/conversation.queries.js';

/** Result of one poll of a pull request at its host. */
export interface SeenPullRequest {
  readonly state: 'open' | 'closed' | 'merged';
  readonly repository: string;
  readonly base: string;
  readonly draft: boolean;
  readonly mergedAt: Date | null;
  readonly closedAt: Date | null;
  readonly mergeSha: string | null;
  /** Of a user; `null`: none yet. */
  readonly firstReviewAt: Date | null;
  /** Before it was asked. */
  readonly seenAt: Date;
}

export interface OutcomeRow {
  readonly id: string;
  readonly orgId: string;
  readonly provider: string;
  readonly host: string;
  readonly repository: string;
  readonly number: number;
  readonly connectionId: string | null;
  readonly begunAt: Date;
  readonly pushedShas: readonly string[];
  readonly state: SeenPullRequest['state'];
  readonly mergedAt: Date | null;
  readonly humanCommits: number | null;
  readonly watchedDays: number;
  readonly editedAt: Date | null;
  readonly attempts: number;
}

const COLUMNS = `id, org_id AS "orgId", provider, host, repository, number, connection_id AS "connectionId", begun_at AS "begunAt", state, merged_at AS "mergedAt",
  human_commits AS "humanCommits", watched_days AS "watchedDays", edited_at AS "editedAt", attempts,
  pushed_shas || ARRAY(SELECT p.pushed_sha FROM app.pull_request p WHERE p.org_id = o.org_id AND p.host = o.host AND lower(p.repository) = lower(o.repository) AND p.number = o.number
    AND p.pushed_sha IS NOT NULL) AS "pushedShas"`;

export async function findOutcome(client: PoolClient, orgId: string, id: string): Promise<OutcomeRow | null> {
  const { rows } = await client.query<OutcomeRow>({
    name: 'find-pull-request-outcome',
    text: `SELECT ${COLUMNS} FROM app.pull_request_outcome o WHERE org_id = $1 AND id = $2`,
    values: [orgId, id],
  });
  return rows[0] ?? null;
}

/** Whoever published it. */
export interface PublishedBy {
  readonly provider: string;
  readonly host: string;
  readonly number: number;
  readonly connectionId: string | null;
  readonly conversationId: string;
  readonly begunAt: Date;
  readonly pushedSha: string | null;
}

/** Pushes that are kept. */
const MAX_PUSHES = 20;
/** An older poll never replaces the result of a newer one. `$1`, `$2`: organization and id. */
const SEE = `UPDATE app.pull_request_outcome SET state = $3, repository = $4, base = $5, ready_at = coalesce(ready_at, CASE WHEN $6 THEN NULL ELSE $7::timestamptz END),
  first_review_at = coalesce(first_review_at, $8), merged_at = CASE WHEN $3 = 'merged' THEN coalesce($9, merged_at, $7) END, closed_at = CASE WHEN $3 <> 'open' THEN coalesce($10, closed_at, $7) END,
  merge_sha = $11, seen_at = $7 WHERE org_id = $1 AND id = $2 AND (seen_at IS NULL OR seen_at <= $7)`;

export async function noteSeen(client: PoolClient, orgId: string, id: string, seen: SeenPullRequest): Promise<void> {
  const { state, repository, base, draft, seenAt, firstReviewAt, mergedAt, closedAt, mergeSha } = seen;
  await client.query({
    name: 'note-seen-pull-request',
    text: SEE,
    values: [orgId, id, state, repository, base, draft, seenAt, firstReviewAt, mergedAt, closedAt, mergeSha],
  });
}

/**
 * A conversation has a pull request: makes its outcome, or joins the one that there is, and stores the host's latest
 * state. One that has ended is polled by its job; the outbox has that in the same transaction.
 */
export async function notePublished(
  client: PoolClient,
  orgId: string,
  by: PublishedBy,
  seen: SeenPullRequest,
): Promise<void> {
  const { rows } = await client.query<Columns<'app.pull_request_outcome', 'id' | 'state'>>({
    name: 'note-published-pull-request',
    text: `INSERT INTO app.pull_request_outcome AS o (org_id, provider, host, repository, number, connection_id, conversation_id, begun_at, pushed_shas, next_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, array_remove(ARRAY[$9::text], NULL), $10)
           ON CONFLICT (org_id, host, lower(repository), number) DO UPDATE SET connection_id = coalesce(excluded.connection_id, o.connection_id),
             pushed_shas = CASE WHEN o.pushed_shas @> excluded.pushed_shas THEN o.pushed_shas ELSE (excluded.pushed_shas || o.pushed_shas)[1:${MAX_PUSHES}] END
           RETURNING id, state`,
    values: [
      orgId,
      by.provider,
      by.host,
      seen.repository,
      by.number,
      by.connectionId,
      by.conversationId,
      by.begunAt,
      by.pushedSha,
      new Date(seen.seenAt.getTime() + FIRST_LOOK_MS),
    ],
  });
  const [row] = rows;
  if (row === undefined) throw new Error('an upsert without a row');
  await client.query({
    name: 'note-pull-request-work',
    text: 'INSERT INTO app.pull_request_work (org_id, pull_request_id, conversation_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    values: [orgId, row.id, by.conversationId],
  });
  await noteSeen(client, orgId, row.id, seen);
  if (seen.state === 'merged' && row.state !== 'merged') await wantOutcomeJob(client, orgId, row.id);
}

/** Where nothing is delivered, a pull request is first polled after this time. Milliseconds. */
const FIRST_LOOK_MS = 6 * 3_600_000;

async function wantOutcomeJob(client: PoolClient, orgId: string, id: string): Promise<void> {
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     VALUES (gen_random_uuid(), $1, 'pull-request-outcome', $2, jsonb_build_object('orgId', $1::text, 'outcomeId', $2::text), clock_timestamp())
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [orgId, id],
  );
}

/** Those of the pull request that show it, to be brought up to date by their own jobs. */
export async function wantShown(
  client: PoolClient,
  orgId: string,
  { host, repository, number, provider }: OutcomeRow,
): Promise<void> {
  await client.query(
    `INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
     SELECT gen_random_uuid(), $1, 'pull-request', p.id::text, jsonb_build_object('orgId', $1::text, 'pullRequestId', p.id), clock_timestamp() FROM app.pull_request p
     WHERE p.org_id = $1 AND p.host = $2 AND lower(p.repository) = lower($3) AND p.number = $4 AND p.provider = $5
     ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp()`,
    [orgId, host, repository, number, provider],
  );
}

/** What was found by reading the branch after a merge. */
export interface Watched {
  readonly humanCommits: number | null;
  readonly watchedDays: number;
  readonly revertedAt: Date | null;
  readonly editedAt: Date | null;
  readonly editsRead: boolean;
  readonly revertsRead: boolean;
}

export async function noteWatched(client: PoolClient, orgId: string, id: string, watched: Watched): Promise<void> {
  await client.query({
    name: 'note-watched-pull-request',
    text: `UPDATE app.pull_request_outcome SET human_commits = coalesce($3, human_commits), watched_days = greatest(watched_days, $4), reverted_at = $5, edited_at = $6, edits_read = $7, reverts_read = $8
           WHERE org_id = $1 AND id = $2 AND watched_days <= $4`,
    values: [
      orgId,
      id,
      watched.humanCommits,
      watched.watchedDays,
      watched.revertedAt,
      watched.editedAt,
      watched.editsRead,
      watched.revertsRead,
    ],
  });
}

export async function noteNextLook(
  client: PoolClient,
  orgId: string,
  id: string,
  next: { readonly at: Date | null; readonly attempts: number; readonly problem: string | null },
): Promise<void> {
  await client.query({
    name: 'note-next-look',
    text: 'UPDATE app.pull_request_outcome SET next_at = $3, attempts = $4, problem = left($5, 300) WHERE org_id = $1 AND id = $2',
    values: [orgId, id, next.at, next.attempts, next.problem],
  });
}

/** Between a due poll and the next, when its job set no time. Hours. */
const LOST_HOURS = 1;

/**
 * Wants a job for each that is due, the longest due first. @param ofOne most of one organization: its host lets a
 * connection make so many calls. @returns them, to be queued after the commit.
 */
export function wantDueOutcomes(
  pool: SqlPool,
  { ofOne, most }: { readonly ofOne: number; readonly most: number },
): Promise<Array<{ orgId: string; outcomeId: string }>> {
  return system(pool, 'outcomes sweep', async (client) => {
    const { rows } = await client.query<{ orgId: string; outcomeId: string }>(
      `WITH due AS (
         UPDATE app.pull_request_outcome SET next_at = now() + $2 * interval '1 hour'
         WHERE id IN (SELECT d.id FROM app.org o CROSS JOIN LATERAL (
           SELECT id, next_at FROM app.pull_request_outcome WHERE org_id = o.id AND next_at <= now() ORDER BY next_at LIMIT $3) d ORDER BY d.next_at LIMIT $1) RETURNING id, org_id)
       INSERT INTO app.outbox (id, org_id, queue, key, payload, enqueued_at)
       SELECT gen_random_uuid(), org_id, 'pull-request-outcome', id::text, jsonb_build_object('orgId', org_id, 'outcomeId', id), clock_timestamp() FROM due
       ON CONFLICT (queue, key) DO UPDATE SET id = excluded.id, enqueued_at = clock_timestamp() RETURNING org_id AS "orgId", key AS "outcomeId"`,
      [most, LOST_HOURS, ofOne],
    );
    return rows;
  });
}

/** A host limits the calls of a connection: no other poll by it is due before. */
export async function putOffOthers(
  client: PoolClient,
  orgId: string,
  connectionId: string,
  until: Date,
): Promise<void> {
  await client.query({
    name: 'put-off-outcomes',
    text: 'UPDATE app.pull_request_outcome SET next_at = $3 WHERE org_id = $1 AND connection_id = $2 AND next_at < $3',
    values: [orgId, connectionId, until],
  });
}

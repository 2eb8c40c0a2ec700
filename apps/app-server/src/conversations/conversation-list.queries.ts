import type { ConversationPullRequest, ListConversationsQuery } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';

/** Where a page ended: a time as text or millionths of a dollar, by the sort, and then the id. */
export interface ListPosition {
  readonly at: string;
  readonly id: string;
}

type Pulls = Readonly<Record<string, ConversationPullRequest>>;
/** Positions up to which the caller has looked, by conversation. */
type ReadMarks = Readonly<Record<string, number>>;

/**
 * One round trip for a page. `data` is JSON as it is answered: a `ConversationSummary` each; `last` is `null` on the
 * last page.
 */
export async function listConversations(
  pool: SqlPool,
  { orgId, actor }: Pick<Principal, 'orgId' | 'actor'>,
  query: Omit<ListConversationsQuery, 'cursor'>,
  after: ListPosition | null,
): Promise<{ data: string; last: ListPosition | null }> {
  const { rows } = await pool.query<{
    data: string;
    last: string | null;
    last_id: string | null;
    pulls: Pulls | null;
    pins: string[] | null;
    marks: ReadMarks | null;
  }>({
    name: 'list-conversations',
    // The function has set the organization by the time that the pull requests of its page are read.
    text: `SELECT l.data, l.last, l.last_id, (
             SELECT jsonb_object_agg(p.conversation_id, jsonb_build_object('number', p.number, 'url', p.url, 'state', p.state, 'draft', p.draft,
               'checks', p.checks ->> 'state', 'review', p.review, 'conflicts', p.conflicts) ORDER BY p.created_at)
             FROM app.pull_request p WHERE p.org_id = $1 AND p.conversation_id IN (SELECT (e ->> 'id')::uuid FROM jsonb_array_elements(l.data::jsonb) e)) AS pulls,
             (SELECT array_agg(p.conversation_id::text) FROM app.conversation_pin p WHERE p.org_id = $1 AND p.user_id = $15
               AND p.conversation_id IN (SELECT (e ->> 'id')::uuid FROM jsonb_array_elements(l.data::jsonb) e)) AS pins,
             (SELECT jsonb_object_agg(m.conversation_id, m.seq) FROM app.read_mark m WHERE m.org_id = $1 AND m.user_id = $15 AND m.seq > 0
               AND m.conversation_id IN (SELECT (e ->> 'id')::uuid FROM jsonb_array_elements(l.data::jsonb) e)) AS marks
           FROM app.list_conversations($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, CASE WHEN $16 THEN $15 END) l`,
    values: [
      orgId,
      query.sort,
      query.limit,
      after?.at ?? null,
      after?.id ?? null,
      query.status ?? null,
      query.owner ?? null,
      query.repository ?? null,
      query.model ?? null,
      query.createdAfter ?? null,
      query.createdBefore ?? null,
      query.search ?? null,
      query.shown,
      query.tag ?? null,
      actor.id,
      query.pinned !== undefined,
    ],
  });
  const [page] = rows;
  if (page === undefined) throw new Error('a function without a row');
  return {
    data: withOwn(page.data, page),
    last: page.last === null || page.last_id === null ? null : { at: page.last, id: page.last_id },
  };
}

/** A page with neither pull request, pin nor read mark is answered as the database wrote it. */
function withOwn(
  data: string,
  { pulls, pins, marks }: { pulls: Pulls | null; pins: readonly string[] | null; marks: ReadMarks | null },
): string {
  if (pulls === null && pins === null && marks === null) return data;
  const pinned = new Set(pins);
  return JSON.stringify(
    (JSON.parse(data) as Array<{ id: string }>).map((each) => ({
      ...each,
      pullRequest: pulls?.[each.id] ?? null,
      pinned: pinned.has(each.id),
      readSeq: marks?.[each.id] ?? 0,
    })),
  );
}

import type { ListConversationsQuery } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';

/** Where a page ended: a time as text or millionths of a dollar, by the sort, and then the id. */
export interface ListPosition {
  readonly at: string;
  readonly id: string;
}

/** One round trip for a page. `data` is JSON as it is answered: a `ConversationSummary` each; `last` is `null` on the last page. */
export async function listConversations(
  pool: SqlPool,
  orgId: string,
  query: Omit<ListConversationsQuery, 'cursor'>,
  after: ListPosition | null,
): Promise<{ data: string; last: ListPosition | null }> {
  const { rows } = await pool.query<{ data: string; last: string | null; last_id: string | null }>({
    name: 'list-conversations',
    text: 'SELECT data, last, last_id FROM app.list_conversations($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
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
    ],
  });
  const [page] = rows;
  if (page === undefined) throw new Error('a function without a row');
  return { data: page.data, last: page.last === null || page.last_id === null ? null : { at: page.last, id: page.last_id } };
}

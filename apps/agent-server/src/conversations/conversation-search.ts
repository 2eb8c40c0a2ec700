import { type ConversationInfo } from '@slipway/contracts/agent';
import { EXECUTION_STATUSES } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';

const MAX_PAGE = 100;
const ORDERS = ['CREATED_AT_DESC', 'CREATED_AT', 'UPDATED_AT_DESC', 'UPDATED_AT'] as const;

/**
 * OpenHands' `GET /api/conversations/search`. A page begins at a conversation's id. @throws SlipwayError
 * `request.invalid`.
 */
export function searchConversations(
  all: readonly ConversationInfo[],
  query: URLSearchParams,
): { items: ConversationInfo[]; next_page_id: string | null } {
  const limit = Number(query.get('limit') ?? MAX_PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw new SlipwayError('request.invalid', `limit: must be 1 to ${MAX_PAGE}`);
  const order = ORDERS.find((name) => name === (query.get('sort_order') ?? ORDERS[0]));
  if (order === undefined) throw new SlipwayError('request.invalid', `sort_order: must be one of ${ORDERS.join(', ')}`);
  const field = order.startsWith('CREATED') ? 'created_at' : 'updated_at';
  const sign = order.endsWith('_DESC') ? -1 : 1;
  const found = all
    .filter(withStatus(query))
    .sort((a, b) => sign * (a[field].localeCompare(b[field]) || a.id.localeCompare(b.id)));
  const page = query.get('page_id');
  const from = page === null ? 0 : found.findIndex(({ id }) => id === page);
  if (from === -1)
    throw new SlipwayError('request.invalid', 'page_id: is no page of this search; begin again without it');
  return { items: found.slice(from, from + limit), next_page_id: found[from + limit]?.id ?? null };
}

/** The same filter, counted. */
export function countConversations(all: readonly ConversationInfo[], query: URLSearchParams): number {
  return all.filter(withStatus(query)).length;
}

function withStatus(query: URLSearchParams): (info: ConversationInfo) => boolean {
  const wanted = query.get('status');
  if (wanted === null) return () => true;
  if (!EXECUTION_STATUSES.some((status) => status === wanted))
    throw new SlipwayError('request.invalid', `status: must be one of ${EXECUTION_STATUSES.join(', ')}`);
  return (info) => info.execution_status === wanted;
}

import type { ConversationSummary } from '@slipway/contracts/conversations';
import type { DeskChanges } from '../desk/desk-store.ts';
import type { ConversationFilters } from './conversation-filters.tsx';

interface Page {
  readonly data: readonly ConversationSummary[];
}

export interface LiveRows<P> {
  readonly pages: readonly P[];
  /** What changed may belong into the list, or to another place of it: it has to be read again. */
  readonly isStale: boolean;
}

/**
 * The pages of a list after a frame of the room. Rows change where they stand, so that nothing moves under the pointer;
 * what has left the list by its status is taken out. What is gone from the Desk may be archived, deleted or only old:
 * the server knows which of these the list has.
 */
export function withChanges<P extends Page>(
  pages: readonly P[],
  { changed, gone, stale }: DeskChanges,
  filters: ConversationFilters,
): LiveRows<P> {
  const news = new Map(changed.map((each) => [each.id, each]));
  const known = new Set<string>();
  const after = pages.map((page) => {
    let isSame = true;
    const data = page.data.flatMap((row) => {
      known.add(row.id);
      const now = news.get(row.id);
      if (now === undefined) return [row];
      isSame = false;
      if (!belongs(now, filters)) return [];
      const { approval, doing, egress, lastWord, saidSeq, since, people, answered, ...summary } = now;
      return [{ ...summary, pinned: row.pinned, readSeq: row.readSeq }];
    });
    return isSame ? page : { ...page, data };
  });
  return {
    pages: after,
    isStale: stale || gone.length > 0 || changed.some((each) => !known.has(each.id) && belongs(each, filters)),
  };
}

/** By what changes while an agent works; the other filters are the server's, and do not change meanwhile. */
function belongs(
  { status, archivedAt, deletedAt }: Pick<ConversationSummary, 'status' | 'archivedAt' | 'deletedAt'>,
  filters: ConversationFilters,
): boolean {
  if (filters.status !== undefined && filters.status !== status) return false;
  switch (filters.shown) {
    case 'open':
      return archivedAt === null && deletedAt === null;
    case 'archived':
      return archivedAt !== null && deletedAt === null;
    case 'deleted':
      return deletedAt !== null;
    case 'all':
      return deletedAt === null;
    default:
      return filters.shown satisfies never;
  }
}

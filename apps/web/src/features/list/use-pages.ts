'use client';
import { useInfiniteQuery } from '@tanstack/react-query';

/** What every list answers: a page and where the next one begins. */
export interface Page<Row> {
  readonly data: readonly Row[];
  readonly page: { readonly nextCursor: string | null };
}

export interface Pages<Row> {
  readonly rows: readonly Row[];
  /** Nothing has been read yet. */
  readonly pending: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
  /** Reads the next page; `null` when there is none. */
  readonly more: (() => void) | null;
  readonly readingMore: boolean;
}

/**
 * A list that is read page by page, from a cursor. Its key holds every filter, so that another filter is another list.
 * @param options.refreshMs how often it is read again while the page is looked at; absent: when the window is looked at
 * again.
 */
export function usePages<Row>(options: {
  readonly key: readonly unknown[];
  readonly read: (cursor: { cursor?: string }, signal: AbortSignal) => Promise<Page<Row>>;
  readonly refreshMs?: number;
  readonly enabled?: boolean;
}): Pages<Row> {
  const list = useInfiniteQuery({
    queryKey: options.key,
    queryFn: ({ pageParam, signal }) => options.read(pageParam === null ? {} : { cursor: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.page.nextCursor,
    enabled: options.enabled ?? true,
    ...(options.refreshMs === undefined ? {} : { refetchInterval: options.refreshMs }),
  });
  return {
    rows: list.data?.pages.flatMap((page) => page.data) ?? [],
    pending: list.isPending,
    error: list.error,
    retry: () => void list.refetch(),
    more: list.hasNextPage ? () => void list.fetchNextPage() : null,
    readingMore: list.isFetchingNextPage,
  };
}

'use client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { fullNameOf } from './repository-query.ts';
import { useSettled } from './use-repositories.ts';

/**
 * Branches of a repository that was chosen from the list. @param connection empty: it was typed, and has none to offer.
 */
export function useBranches(connection: string, reference: string, typed: string, opened: boolean) {
  const { org } = useSession();
  const query = useSettled(typed.trim());
  const repository = fullNameOf(reference);
  const list = useInfiniteQuery({
    queryKey: ['branches', org.id, connection, repository, query],
    queryFn: ({ pageParam, signal }) =>
      api.listIntegrationBranches({
        org: org.id,
        query: {
          connection,
          repository,
          ...(query === '' ? {} : { query }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.page.nextCursor,
    enabled: opened && connection !== '',
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  return {
    branches: connection === '' ? [] : (list.data?.pages.flatMap((page) => page.data) ?? []),
    pending: list.isFetching,
    error: list.error,
    more: list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : null,
  };
}

'use client';
import type { ListedConnection, Repository } from '@slipway/contracts/repositories';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { searchOf } from './repository-query.ts';

/** Quiet time after the last letter before a provider is asked. Milliseconds. */
const SETTLE_MS = 250;
/** A page may be short before the last one: so many are read until there is something to show. */
const MOST_EMPTY_PAGES = 5;
const ENOUGH = 6;

export interface FoundRepositories {
  readonly repositories: readonly Repository[];
  /** What became of each connection; empty until it is known, and where the organization has none. */
  readonly connections: readonly ListedConnection[];
  readonly pending: boolean;
  readonly error: Error | null;
  readonly more: (() => void) | null;
}

/** Repositories for what is typed, once the field was opened. */
export function useRepositories(typed: string, opened: boolean): FoundRepositories {
  const { org } = useSession();
  const search = useSettled(searchOf(typed));
  const list = useInfiniteQuery({
    queryKey: ['host-repositories', org.id, search],
    queryFn: ({ pageParam, signal }) =>
      api.listIntegrationRepositories({
        org: org.id,
        query: { ...(search ? { query: search } : {}), ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.page.nextCursor,
    enabled: opened && search !== null,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
  const pages = search === null ? [] : (list.data?.pages ?? []);
  const repositories = pages.flatMap((page) => page.data);
  const { hasNextPage, isFetching, fetchNextPage } = list;
  const short = opened && hasNextPage && !isFetching && repositories.length < ENOUGH && pages.length < MOST_EMPTY_PAGES;
  useEffect(() => {
    if (short) void fetchNextPage();
  }, [short, fetchNextPage]);
  return {
    repositories,
    connections: list.data?.pages.at(-1)?.connections ?? [],
    pending: list.isFetching && repositories.length === 0,
    error: list.error,
    more: hasNextPage && !isFetching ? () => void fetchNextPage() : null,
  };
}

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

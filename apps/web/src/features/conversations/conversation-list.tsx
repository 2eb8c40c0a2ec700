'use client';
import { Button } from '@slipway/ui';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { SquarePen } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { api } from '../../api/client.ts';
import { BulkBar } from '../conversation-edits/bulk-bar.tsx';
import { useMayEdit } from '../conversation-edits/may-edit.ts';
import { useEdits } from '../conversation-edits/use-edits.ts';
import { useDeskStore } from '../desk/desk-context.tsx';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { ConversationFilterBar, type ConversationFilters, useConversationFilters } from './conversation-filters.tsx';
import { ListSkeleton, NoConversations } from './list-states.tsx';
import { pinnedFirst } from './pinned-first.ts';
import { isActive } from './status-label.ts';
import { useLiveRows } from './use-live-rows.ts';
import { VirtualList } from './virtual-list.tsx';

/** How often the list is read again while the room is not there and an agent works. Milliseconds. */
const REFRESH_MS = 15_000;

export function ConversationList() {
  const t = useTranslations();
  const { org } = useSession();
  const { filters, any, clear } = useConversationFilters();
  const { list, rows } = useConversations(filters);
  const { mayEdit } = useMayEdit();
  const edits = useEdits();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  /** What is no longer in the list is not changed unseen. */
  const selected = useMemo(() => rows.filter(({ id }) => chosen.has(id)), [rows, chosen]);
  const tags = useMemo(() => [...new Set(rows.flatMap((row) => row.tags))].sort(), [rows]);
  const select = (id: string, on: boolean) =>
    setChosen((before) => {
      const after = new Set(before);
      if (on) after.add(id);
      else after.delete(id);
      return after;
    });
  return (
    <div className="flex h-full flex-col">
      <header className="flex shrink-0 flex-wrap items-center gap-3 border-b border-line px-4 py-2 md:h-12 md:px-6">
        <h1 className="flex-1 text-base font-semibold">{t('common.conversations')}</h1>
        <Button asChild tone="primary" className="max-md:hidden">
          <Link href={`/${org.slug}`}>
            <SquarePen aria-hidden /> {t('common.newTask')}
          </Link>
        </Button>
      </header>
      <ConversationFilterBar filters={filters} tags={tags} />
      {list.isError && rows.length === 0 ? (
        <Failed error={list.error} retry={() => list.refetch()} className="m-4 max-w-xl md:m-6" />
      ) : list.isPending ? (
        <ListSkeleton />
      ) : rows.length === 0 ? (
        <NoConversations shown={filters.shown} clear={any ? clear : null} />
      ) : (
        <>
          {selected.length === 0 ? null : (
            <BulkBar
              selected={selected}
              shown={filters.shown}
              edits={edits}
              all={selected.length < rows.length ? () => setChosen(new Set(rows.map(({ id }) => id))) : null}
              clear={() => setChosen(new Set())}
            />
          )}
          <VirtualList
            rows={rows}
            more={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : null}
            columns={filters.shown !== 'deleted'}
            editing={mayEdit ? { edits, chosen, select } : null}
          />
        </>
      )}
    </div>
  );
}

/** Pages of the list, with what the user has pinned before all others. */
function useConversations(filters: ConversationFilters) {
  const { org } = useSession();
  const store = useDeskStore();
  const list = useInfiniteQuery({
    queryKey: ['conversations', org.id, filters],
    queryFn: ({ pageParam, signal }) =>
      api.listConversations({
        org: org.id,
        query: { limit: 100, ...filters, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.page.nextCursor,
    refetchInterval: (query) =>
      !store.isLive &&
      query.state.data?.pages.some((page) => page.data.some((conversation) => isActive(conversation.status)))
        ? REFRESH_MS
        : false,
  });
  const pinned = useQuery({
    queryKey: ['conversations', org.id, filters, 'pinned'],
    queryFn: ({ signal }) =>
      api.listConversations({ org: org.id, query: { limit: 100, ...filters, pinned: 'true' }, signal }),
    enabled: filters.shown !== 'deleted',
  });
  useLiveRows(filters);
  const rows = useMemo(
    () => pinnedFirst(pinned.data?.data ?? [], list.data?.pages.flatMap((page) => page.data) ?? []),
    [pinned.data, list.data],
  );
  return { list, rows };
}

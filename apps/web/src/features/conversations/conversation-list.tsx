'use client';
import { AfterDelay, Button, EmptyState, Skeleton } from '@slipway/ui';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { SquarePen } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import { api } from '../../api/client.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { ConversationFilterBar, useConversationFilters } from './conversation-filters.tsx';
import { ConversationColumns, ConversationLine } from './conversation-row.tsx';
import { isActive } from './status-label.ts';

/** How often the list is read again while an agent works and the page is looked at. Milliseconds. */
const REFRESH_MS = 15_000;
export function ConversationList() {
  const t = useTranslations();
  const { org } = useSession();
  const { filters, any, clear } = useConversationFilters();
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
      query.state.data?.pages.some((page) => page.data.some((conversation) => isActive(conversation.status)))
        ? REFRESH_MS
        : false,
  });
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
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
      <ConversationFilterBar filters={filters} />
      {list.isError && rows.length === 0 ? (
        <Failed error={list.error} retry={() => list.refetch()} className="m-4 max-w-xl md:m-6" />
      ) : list.isPending ? (
        <ListSkeleton />
      ) : rows.length === 0 && any ? (
        <EmptyState
          title={t('conversations.noConversationsMatchTheFilters')}
          action={<Button onClick={clear}>{t('conversations.clearFilters')}</Button>}
        />
      ) : rows.length === 0 ? (
        <EmptyState
          title={t('conversations.noConversationsYet')}
          action={
            <Button asChild tone="primary">
              <Link href={`/${org.slug}`}>{t('conversations.startATask')}</Link>
            </Button>
          }
        >
          {t('conversations.eachTaskBecomesAConversation')}
        </EmptyState>
      ) : (
        <VirtualList
          rows={rows}
          orgSlug={org.slug}
          more={list.hasNextPage && !list.isFetching ? () => void list.fetchNextPage() : null}
        />
      )}
    </div>
  );
}

type Rows = Parameters<typeof ConversationLine>[0]['conversation'][];

function VirtualList({ rows, orgSlug, more }: { rows: Rows; orgSlug: string; more: (() => void) | null }) {
  const t = useTranslations();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 44,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const nearEnd = (items.at(-1)?.index ?? 0) >= rows.length - 20;
  useEffect(() => {
    if (nearEnd) more?.();
  }, [nearEnd, more]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <ConversationColumns />
      <div ref={scroller} className="min-h-0 flex-1 overflow-auto">
        <ul aria-label={t('common.conversations')} className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return row ? (
              <li
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                aria-setsize={rows.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <ConversationLine orgSlug={orgSlug} conversation={row} />
              </li>
            ) : null;
          })}
        </ul>
      </div>
    </div>
  );
}

const SKELETON_ROWS = [1, 2, 3, 4, 5, 6, 7, 8];

function ListSkeleton() {
  const t = useTranslations();
  return (
    <div role="status" aria-label={t('conversations.loadingConversations')}>
      <AfterDelay>
        <div className="flex flex-col gap-2 p-4 md:px-6">
          {SKELETON_ROWS.map((row) => (
            <Skeleton key={row} className="h-9 w-full" />
          ))}
        </div>
      </AfterDelay>
    </div>
  );
}

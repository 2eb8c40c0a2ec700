'use client';
import { Button, EmptyState, Notice, Skeleton, useSkeleton } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { failureOf } from '../../api/failure.ts';
import { Failed } from '../frame/failed.tsx';
import type { Pages } from './use-pages.ts';

const SKELETON_ROWS = [1, 2, 3, 4, 5];

/**
 * A list in each of its states: read for the first time, failed, empty, nothing for the filters, rows. A list that was
 * read once stays when reading it again fails, and says that it may be old.
 */
export function ListPanel<Row>({
  list,
  noun,
  empty,
  filtered = null,
  children,
}: {
  list: Pages<Row>;
  /** The rows in the plural, lower case: "members". */
  noun: string;
  /** What to say when there are none at all. */
  empty: ReactNode;
  /** Clears the filters; `null` while none is set. */
  filtered?: (() => void) | null;
  children: (rows: readonly Row[]) => ReactNode;
}) {
  const t = useTranslations();
  const shown = useSkeleton(list.pending && list.error === null);
  if (list.rows.length === 0 && list.error !== null)
    return <Failed error={list.error} retry={list.retry} className="max-w-xl" />;
  if (shown !== 'content') return <RowsSkeleton noun={noun} visible={shown === 'skeleton'} />;
  if (list.rows.length === 0 && filtered !== null)
    return (
      <EmptyState
        title={t('list.noMatchTheFilters', { noun })}
        action={<Button onClick={filtered}>{t('list.clearFilters')}</Button>}
        className="rounded-lg border border-line"
      />
    );
  if (list.rows.length === 0) return empty;
  return (
    <div className="flex flex-col gap-3">
      {list.error === null ? null : (
        <Notice
          tone="warn"
          title={t('list.thisListMayBeOutdated')}
          action={<Button onClick={list.retry}>{t('common.retry')}</Button>}
        >
          {failureOf(list.error).title}.
        </Notice>
      )}
      {children(list.rows)}
      {list.more === null ? null : (
        <Button className="self-center" busy={list.readingMore} onClick={list.more}>
          {t('list.loadMore', { noun })}
        </Button>
      )}
    </div>
  );
}

function RowsSkeleton({ noun, visible }: { noun: string; visible: boolean }) {
  const t = useTranslations();
  return (
    <div role="status" aria-label={t('list.loading', { noun })} className="flex min-h-60 flex-col gap-2">
      {visible ? SKELETON_ROWS.map((row) => <Skeleton key={row} className="h-11 w-full" />) : null}
    </div>
  );
}

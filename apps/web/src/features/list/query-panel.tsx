'use client';
import { Button, Notice, Skeleton, useSkeleton } from '@slipway/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import type { ReactNode } from 'react';
import { failureOf } from '../../api/failure.ts';
import { Failed } from '../frame/failed.tsx';

/**
 * One thing in each of its states: read for the first time, failed, there. What was read once stays when reading it
 * again fails, and says that it may be old.
 */
export function QueryPanel<Data>({
  query,
  label,
  skeleton,
  children,
}: {
  query: UseQueryResult<Data>;
  /** What is being read: "The settings". */
  label: string;
  skeleton?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const t = useTranslations();
  const shown = useSkeleton(query.isPending);
  if (query.data === undefined && query.error !== null)
    return <Failed error={query.error} retry={() => void query.refetch()} className="max-w-xl" />;
  if (shown !== 'content' || query.data === undefined)
    return (
      <div role="status" aria-label={t('list.loading2', { label })} className="min-h-24">
        {shown === 'skeleton' ? (skeleton ?? <Skeleton className="h-24 w-full" />) : null}
      </div>
    );
  return (
    <div className="flex flex-col gap-3">
      {query.error === null ? null : (
        <Notice
          tone="warn"
          title={t('list.mayBeOutdated', { label })}
          action={<Button onClick={() => void query.refetch()}>{t('common.retry')}</Button>}
        >
          {failureOf(query.error).title}.
        </Notice>
      )}
      {children(query.data)}
    </div>
  );
}

'use client';
import type { ConversationPreview, PreviewRow } from '@slipway/contracts/operate';
import { Skeleton } from '@slipway/ui';
import { CircleCheck } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { authorName } from './author-name.ts';

/**
 * A conversation's page before it works: what stands here stands at the same place in `ConversationScreen`. Text only,
 * so that it needs no script.
 */
export function EarlyConversation({ preview }: { preview: ConversationPreview }) {
  const t = useTranslations();
  return (
    <div className="flex h-full flex-col" aria-busy="true">
      <header className="flex shrink-0 flex-wrap items-center gap-y-1 border-b border-line bg-surface px-4 py-2 md:px-6">
        <div className="min-w-0 flex-1">
          <h1 dir="auto" className="truncate text-base font-semibold">
            {preview.snapshot.title}
          </h1>
          <p className="text-xs text-ink-muted">{t('frame.loading')}</p>
        </div>
      </header>
      <div className="flex min-h-0 flex-1">
        <section aria-label={t('common.conversation')} className="flex min-w-0 flex-1 flex-col">
          <div className="relative min-h-0 flex-1">
            <EarlyRows rows={preview.rows} />
          </div>
          <div className="shrink-0 border-t border-line bg-surface px-4 py-2.5 md:px-6">
            <Skeleton className="mx-auto h-11 max-w-3xl" />
          </div>
        </section>
        <div className="hidden w-[44%] min-w-[340px] shrink-0 border-l border-line bg-surface md:block" />
      </div>
    </div>
  );
}

/** Laid out from its end, so that the newest text is in view before anything can scroll to it. */
export function EarlyRows({ rows }: { rows: readonly PreviewRow[] }) {
  const t = useTranslations();
  return (
    <section
      aria-label={t('frame.endOfTheConversation')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      className="absolute inset-0 flex flex-col-reverse overflow-y-auto outline-offset-[-2px]"
    >
      <div className="mx-auto w-full max-w-3xl px-4 pt-4 pb-[68px] md:px-6">
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows never change
          <EarlyRow key={index} row={row} />
        ))}
      </div>
    </section>
  );
}

function EarlyRow({ row }: { row: PreviewRow }) {
  const t = useTranslations();
  if (row.kind === 'step')
    return (
      <p dir="auto" className="truncate py-2 pl-7 text-sm text-ink-muted">
        {row.text}
      </p>
    );
  const text = row.cut ? `${row.text} …` : row.text;
  if (row.author === 'user')
    return (
      <div className="py-2.5">
        <div className="rounded-lg border border-line bg-raised px-3.5 py-2.5">
          <p className="mb-1 text-xs font-medium text-ink">
            {authorName(t, { sender: row.sender, senderId: null }, undefined)}
          </p>
          <div dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            {text}
          </div>
        </div>
      </div>
    );
  return (
    <div className="py-2.5">
      {row.author === 'finish' ? (
        <p className="mb-1 flex items-center gap-1.5 text-sm font-medium text-ok">
          <CircleCheck aria-hidden className="size-4" /> {t('frame.finished')}
        </p>
      ) : null}
      <div dir="auto" className="prose whitespace-pre-wrap [overflow-wrap:anywhere]">
        {text}
      </div>
    </div>
  );
}

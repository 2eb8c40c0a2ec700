'use client';
import { Skeleton } from '@slipway/ui';
import { MessagesSquare, SquarePen } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { EarlyConversation } from '../conversation/early-conversation.tsx';
import { usePreview } from '../conversation/page-preview.tsx';
import { Logo } from './logo.tsx';

const PLACES = [
  { label: 'common.newTask', icon: SquarePen },
  { label: 'common.conversations', icon: MessagesSquare },
] as const;

/**
 * The frame before anything is known of the user, and the end of the conversation where the page is one: the server
 * sends it as text, so that a slow line shows where one is, and what was said, long before the scripts are there. What
 * stands here stands at the same place in the frame itself.
 */
export function FrameSkeleton() {
  const t = useTranslations();
  const preview = usePreview();
  return (
    <div className="flex h-dvh flex-col md:flex-row" aria-busy="true">
      <header className="flex h-12 shrink-0 items-center gap-2.5 border-b border-line bg-surface px-3 text-sm font-semibold md:hidden">
        <Logo className="size-6" /> {t('frame.slipway')}
      </header>
      <div className="hidden w-56 shrink-0 flex-col border-r border-line bg-surface md:flex">
        <p className="flex h-12 items-center gap-2.5 px-3 text-sm font-semibold">
          <Logo className="size-6" /> {t('frame.slipway')}
        </p>
        <div className="flex flex-col gap-0.5 p-2">
          {PLACES.map(({ label, icon: Icon }) => (
            <span key={label} className="flex h-8 items-center gap-2.5 px-2.5 text-sm text-ink-muted">
              <Icon aria-hidden className="size-4 shrink-0" />
              {t(label)}
            </span>
          ))}
        </div>
      </div>
      {preview === null ? (
        <main aria-label={t('frame.loading')} className="min-w-0 flex-1 p-4 md:p-6">
          <p className="text-sm text-ink-muted">{t('frame.loading2')}</p>
          <div className="skeleton-later mt-4 flex flex-col gap-3">
            <Skeleton className="h-7 w-56" />
            <Skeleton className="h-24 w-full max-w-3xl" />
            <Skeleton className="h-9 w-full max-w-3xl" />
            <Skeleton className="h-9 w-full max-w-3xl" />
          </div>
        </main>
      ) : (
        <main className="min-h-0 min-w-0 flex-1">
          <EarlyConversation preview={preview} />
        </main>
      )}
    </div>
  );
}

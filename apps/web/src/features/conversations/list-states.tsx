'use client';
import { AfterDelay, Button, EmptyState, Skeleton } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useSession } from '../session/me.ts';
import type { ConversationFilters } from './conversation-filters.tsx';

/** Why there are none: filters, nothing archived, nothing deleted, or nothing at all. */
export function NoConversations({
  shown,
  clear,
}: {
  shown: ConversationFilters['shown'];
  /** Clears the filters; `null` while none is set. */
  clear: (() => void) | null;
}) {
  const t = useTranslations();
  const { org } = useSession();
  if (clear !== null)
    return (
      <EmptyState
        title={t('conversations.noConversationsMatchTheFilters')}
        action={<Button onClick={clear}>{t('conversations.clearFilters')}</Button>}
      />
    );
  if (shown === 'archived')
    return (
      <EmptyState title={t('conversationEdits.nothingArchived')}>{t('conversationEdits.whatArchivingDoes')}</EmptyState>
    );
  if (shown === 'deleted')
    return <EmptyState title={t('conversationEdits.trashEmpty')}>{t('conversationEdits.whatTheTrashHas')}</EmptyState>;
  return (
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
  );
}

const SKELETON_ROWS = [1, 2, 3, 4, 5, 6, 7, 8];

export function ListSkeleton() {
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

'use client';
import { AfterDelay, Button, EmptyState, Skeleton } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useHydrated } from '../../browser/hydrated.ts';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { ConversationScreen } from './conversation-screen.tsx';
import { EarlyConversation } from './early-conversation.tsx';
import { useEarlySnapshot, usePreview } from './page-preview.tsx';

/** Reads the snapshot once; from then on the log is the only source. Opening never needs a sandbox. */
export function ConversationPage({ id }: { id: string }) {
  const t = useTranslations();
  const { org } = useSession();
  const preview = usePreview(id);
  const early = useEarlySnapshot(id);
  const hydrated = useHydrated();
  const { data, error, refetch } = useQuery({
    queryKey: ['conversation', org.id, id],
    queryFn: ({ signal }) => api.getConversation({ org: org.id, conversation: id, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    ...early,
  });
  // What it is made of needs a browser.
  if (data !== undefined && hydrated) return <ConversationScreen snapshot={data} />;
  if (error && failureOf(error).code === 'resource.not-found')
    return (
      <div className="grid h-full place-items-center">
        <EmptyState
          page
          title={t('conversation.conversationNotFound')}
          action={
            <Button asChild>
              <Link href={`/${org.slug}/conversations`}>{t('conversation.allConversations')}</Link>
            </Button>
          }
        >
          {t('conversation.checkTheAddressTheConversation')}
        </EmptyState>
      </div>
    );
  if (error)
    return (
      <>
        <h1 className="sr-only">{t('common.conversation')}</h1>
        <Failed error={error} retry={() => refetch()} className="m-4 max-w-xl md:m-6" />
      </>
    );
  if (preview !== null) return <EarlyConversation preview={preview} />;
  return (
    <div role="status" aria-label={t('conversation.loadingTheConversation')} className="p-4 md:p-6">
      <AfterDelay>
        <div className="flex max-w-3xl flex-col gap-3">
          <Skeleton className="h-7 w-72" />
          <Skeleton className="h-16 w-full" />
          <Skeleton className="h-9 w-full" />
          <Skeleton className="h-9 w-full" />
        </div>
      </AfterDelay>
    </div>
  );
}

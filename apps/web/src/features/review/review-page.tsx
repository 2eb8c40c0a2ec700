'use client';
import { EmptyState, SkeletonLines } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useEarlySnapshot } from '../conversation/page-preview.tsx';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { ReviewScreen } from './review-screen.tsx';

/** Reads the conversation once; from then on its log is the only source. */
export function ReviewPage({ id }: { id: string }) {
  const t = useTranslations();
  const { org } = useSession();
  const early = useEarlySnapshot(id);
  const { data, error, refetch } = useQuery({
    queryKey: ['conversation', org.id, id],
    queryFn: ({ signal }) => api.getConversation({ org: org.id, conversation: id, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    ...early,
  });
  if (data !== undefined) return <ReviewScreen snapshot={data} />;
  if (error && failureOf(error).code === 'resource.not-found')
    return (
      <EmptyState page title={t('conversation.conversationNotFound')}>
        {t('conversation.checkTheAddressTheConversation')}
      </EmptyState>
    );
  return (
    <>
      <h1 className="sr-only">{t('common.review')}</h1>
      {error ? (
        <Failed error={error} retry={() => refetch()} className="m-4 max-w-xl md:m-6" />
      ) : (
        <SkeletonLines className="p-6" />
      )}
    </>
  );
}

'use client';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { promptVersions } from './prompt-versions.ts';

/** Versions that are asked for at once: each is up to 32 KiB. */
const PAGE = 10;

/** Versions of prompt and tools, the newest first; read again when the log has a new one. */
export function usePromptVersions() {
  const t = useTranslations();
  const { orgId, conversation, store } = useConversation();
  const promptSeq = useView((view) => view.promptSeq);
  const query = useInfiniteQuery({
    queryKey: ['prompt-versions', orgId, conversation.id, promptSeq],
    queryFn: ({ pageParam, signal }) =>
      api.readEvents({
        org: orgId,
        conversation: conversation.id,
        query: { after: 0, before: pageParam, limit: PAGE, kind: 'SystemPromptEvent' },
        signal,
      }),
    initialPageParam: store.view.get().lastSeq + 1,
    getNextPageParam: (page) => (page.data.length === PAGE ? page.data[0]?.seq : undefined),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const versions = useMemo(
    () =>
      promptVersions(
        t,
        (query.data?.pages ?? []).toReversed().flatMap((page) => page.data),
      ),
    [t, query.data],
  );
  return { query, versions };
}

'use client';
import type { ConversationTrace } from '@slipway/contracts/conversations';
import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';

/** Between two looks while the agent works; a long trace is read less often. Milliseconds. */
const LIVE_MS = 4_000;
const LIVE_LONG_MS = 15_000;
/** Spans from which a trace is long. */
const LONG = 2_000;
/** The ledger has a call within this time of its end. Milliseconds. */
const SETTLE_MS = 1_500;

/** The trace from a position of the log; read again while the conversation is live. */
export function useTrace(after: number): UseQueryResult<ConversationTrace> {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const isLive = useView(({ status }) => status === 'working' || status === 'starting');
  const status = useView((view) => view.status);
  const lastSeq = useView((view) => view.lastSeq);
  const queryKey = ['trace', orgId, conversation.id, after];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.readTrace({ org: orgId, conversation: conversation.id, query: { after }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      isLive ? ((data?.spans.length ?? 0) > LONG ? LIVE_LONG_MS : LIVE_MS) : false,
  });
  // At rest the log still grows: by a message, a stop, or the last event of a run.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is new with each render, and says the same
  useEffect(() => {
    if (isLive) return;
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey }), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [isLive, status, lastSeq]);
  return query;
}

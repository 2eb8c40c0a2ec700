'use client';
import type { PullRequest, PullRequestList } from '@slipway/contracts/repositories';
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';

function keyOf(orgId: string, conversationId: string) {
  return ['pull-requests', orgId, conversationId] as const;
}

/** What the conversation has published; read again after each event about it. */
export function usePullRequests(): UseQueryResult<PullRequestList> {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const at = useView((view) => view.pullRequestAt);
  const key = keyOf(orgId, conversation.id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the log says more
  useEffect(() => {
    if (at > 0) void queries.invalidateQueries({ queryKey: key });
  }, [at]);
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => api.listPullRequests({ org: orgId, conversation: conversation.id, signal }),
    enabled: conversation.repository !== null,
    staleTime: 30_000,
  });
}

/** Puts an answer of the server into the list at once. */
export function useKeepPullRequest(): (pull: PullRequest) => void {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  return (pull) =>
    queries.setQueryData<PullRequestList>(keyOf(orgId, conversation.id), (list) => ({
      data: [pull, ...(list?.data ?? []).filter(({ id }) => id !== pull.id)],
    }));
}

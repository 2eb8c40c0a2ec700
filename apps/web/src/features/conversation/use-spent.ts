'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useConversation, useView } from './conversation-context.ts';

/** What was spent is counted this long after a call at the latest. Milliseconds. */
const COUNTED_AFTER_MS = 4_000;

export interface Spent {
  /** US dollars. */
  readonly costUsd: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/**
 * What the conversation came to, as the usage page has it: asked again some seconds after each step, since the
 * sandbox's own count leaves calls out.
 */
export function useSpent(): Spent {
  const { orgId, conversation } = useConversation();
  const step = useView((view) => `${view.status} ${view.promptTokens} ${view.completionTokens}`);
  const asked = useQuery({
    queryKey: ['spent', orgId, conversation.id, step],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, COUNTED_AFTER_MS));
      signal.throwIfAborted();
      return api.getConversation({ org: orgId, conversation: conversation.id, signal });
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { costUsd, promptTokens, completionTokens } = asked.data ?? conversation;
  return { costUsd: Number(costUsd), promptTokens, completionTokens };
}

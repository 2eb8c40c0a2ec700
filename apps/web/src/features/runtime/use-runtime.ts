'use client';
import type { RuntimeState } from '@slipway/contracts/conversations';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';

/**
 * Where the runtime stands, as the server says it after the last event that may have changed it; `null` until that is
 * known.
 * @param wanted asks for it; what came with the page is given unasked.
 */
export function useRuntime(wanted: boolean): RuntimeState | null {
  const { orgId, conversation } = useConversation();
  const at = useView((view) => view.runtimeAt);
  const asked = useQuery({
    queryKey: ['runtime', orgId, conversation.id, at],
    queryFn: ({ signal }) => api.getConversation({ org: orgId, conversation: conversation.id, signal }),
    enabled: wanted && at > 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return at === 0 ? conversation.runtime : (asked.data?.runtime ?? null);
}

'use client';
import type { Conversation, UpdateRunSettings } from '@slipway/contracts/conversations';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation } from '../conversation/conversation-context.ts';

/** Whatever went wrong, in a corner of the screen. */
export function showFailure(error: unknown): void {
  const failure = failureOf(error);
  toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
}

/**
 * Changes how far the agent goes by itself, and lets it go on. A repeated try does no harm: values are absolute, and
 * "go on" is one outbox job.
 */
export function useGoOnWith(): UseMutationResult<Conversation, Error, UpdateRunSettings> {
  const { orgId, conversation } = useConversation();
  const target = { org: orgId, conversation: conversation.id };
  return useMutation({
    mutationFn: async (settings: UpdateRunSettings) => {
      await api.updateRunSettings({ ...target, body: settings });
      return api.resumeConversation(target);
    },
  });
}

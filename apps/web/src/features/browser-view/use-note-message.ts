'use client';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import { api, newId } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation } from '../conversation/conversation-context.ts';

/**
 * Sends the agent a note as a message. One that was refused stays on the screen until it is dismissed, so that it can
 * be copied.
 */
export function useNoteMessage(): UseMutationResult<void, Error, string> {
  const t = useTranslations();
  const { store, orgId, conversation } = useConversation();
  return useMutation({
    mutationFn: async (text: string) => {
      const id = newId();
      const message = await api.sendMessage({
        org: orgId,
        conversation: conversation.id,
        body: { id, text },
        idempotencyKey: id,
      });
      const queue = store.queue.get();
      if (!queue.some((queued) => queued.id === message.id)) store.queue.set([...queue, message]);
    },
    onError: (error, text) => {
      const { title, detail } = failureOf(error);
      toast.error(title, {
        description: t('browserView.yourNoteWas', { detail, text }),
        duration: Number.POSITIVE_INFINITY,
      });
    },
  });
}

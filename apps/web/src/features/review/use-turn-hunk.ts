'use client';
import type { FileChange, TurnHunk } from '@slipway/contracts/repositories';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import type { Selection } from '../changes/selection.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { undoToast } from '../undo/undo-toast.ts';

type Turned = Pick<TurnHunk, 'hunk' | 'direction'>;

/** Takes a hunk of a file back, with a way to put it back; the changes are read again whatever comes of it. */
export function useTurnHunk(file: FileChange, { repository }: Selection): UseMutationResult<void, Error, Turned> {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const turn: UseMutationResult<void, Error, Turned> = useMutation({
    mutationFn: (turned: Turned) =>
      api.turnHunk({
        org: orgId,
        conversation: conversation.id,
        body: { ...turned, file: file.path, status: file.status, ...(repository === null ? {} : { repository }) },
      }),
    onSuccess: (_, { hunk, direction }) => {
      if (direction === 'revert')
        undoToast(t, t('reviewPage.tookBack', { path: file.path }), () => turn.mutate({ hunk, direction: 'restore' }));
    },
    onSettled: () => {
      for (const what of ['changes', 'diff', 'repositories'])
        void queries.invalidateQueries({ queryKey: [what, orgId, conversation.id] });
    },
  });
  return turn;
}

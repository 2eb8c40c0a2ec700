'use client';
import { seenHash } from '@slipway/domain/review';
import { Button } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Eye } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { useChanges, useIsAway } from '../changes/use-changes.ts';
import { useCommand } from '../commands/command-context.tsx';
import { useConversation } from '../conversation/conversation-context.ts';
import { Failed } from '../frame/failed.tsx';

/** Says that the user has looked at what there is now: from then on "since I looked" is what is new to them. */
export function LookedButton() {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const isAway = useIsAway();
  const { data } = useChanges();
  const mark = useMutation({
    mutationFn: (seen: string) => api.markLooked({ org: orgId, conversation: conversation.id, body: { seen } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['changes', orgId, conversation.id] }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['diff', orgId, conversation.id, 'looked'] }),
  });
  const run =
    data?.live === true && !isAway && !mark.isPending ? () => mark.mutate(seenHash(data.files, data.folders)) : null;
  useCommand('review.looked', run);
  return (
    <div className="flex flex-col items-end gap-1">
      <Button disabled={run === null} busy={mark.isPending} onClick={() => run?.()}>
        <Eye aria-hidden /> {t('reviewPage.looked')}
      </Button>
      {mark.error ? <Failed error={mark.error} /> : null}
      <p role="status" className="sr-only">
        {mark.isSuccess ? t('reviewPage.lookedDone') : ''}
      </p>
    </div>
  );
}

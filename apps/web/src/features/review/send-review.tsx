'use client';
import { Button } from '@slipway/ui';
import { Send } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useCommand } from '../commands/command-context.tsx';
import { Failed } from '../frame/failed.tsx';
import { useSession } from '../session/me.ts';
import { useIsWriting, useReview, useReviewVerbs } from './use-review.ts';

/** Sends the user's own comments that wait, as one message. */
export function SendReview() {
  const t = useTranslations();
  const { org, me } = useSession();
  const { send } = useReviewVerbs();
  const isWriting = useIsWriting();
  const threads = useReview().data?.threads ?? [];
  const count = threads
    .flatMap(({ comments }) => comments)
    .filter(({ author, messageId }) => author.id === me.id && messageId === null).length;
  const may = org.permissions.includes('conversation:write') && count > 0 && !send.isPending && !isWriting;
  useCommand('review.send', may ? () => send.mutate() : null);
  if (!org.permissions.includes('conversation:write')) return null;
  return (
    <div className="flex flex-col items-end gap-1">
      <Button tone="primary" disabled={!may} busy={send.isPending} onClick={() => send.mutate()}>
        <Send aria-hidden /> {t('reviewPage.send', { count })}
      </Button>
      {send.error ? <Failed error={send.error} retry={() => send.mutate()} /> : null}
      <p role="status" className="sr-only">
        {send.data === undefined ? '' : t('reviewPage.sent', { count: send.data.comments })}
      </p>
    </div>
  );
}

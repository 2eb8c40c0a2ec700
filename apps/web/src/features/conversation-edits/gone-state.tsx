'use client';
import { Button, EmptyState } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { useStored } from '../../browser/stored.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { useSession } from '../session/me.ts';
import { useMayEdit } from './may-edit.ts';
import { useEdits } from './use-edits.ts';

/** In place of a conversation that was deleted while it was open. What was being written stays, and is shown. */
export function GoneState({ onRestored }: { onRestored: () => void }) {
  const t = useTranslations();
  const { conversation } = useConversation();
  const { org } = useSession();
  const { mayDelete } = useMayEdit();
  const edits = useEdits();
  const title = useView((view) => view.title);
  const [busy, setBusy] = useState(false);
  const [typed] = useStored(`slipway.message.${conversation.id}`, '');
  const restores = mayDelete(conversation);
  const restore = async () => {
    setBusy(true);
    if (await edits.run('restore', [conversation.id])) onRestored();
    setBusy(false);
  };
  return (
    <div role="alert" className="grid h-full place-items-center overflow-auto">
      <EmptyState
        page
        title={t('conversationEdits.thisConversationWasDeleted')}
        action={
          <div className="flex flex-wrap justify-center gap-2">
            {restores ? (
              <Button tone="primary" busy={busy} onClick={() => void restore()}>
                {t('conversationEdits.restore')}
              </Button>
            ) : null}
            <Button asChild>
              <Link href={`/${org.slug}/conversations`}>{t('conversation.allConversations')}</Link>
            </Button>
          </div>
        }
      >
        <p dir="auto" className="text-ink">
          {title}
        </p>
        <p>{t(restores ? 'conversationEdits.youCanRestoreIt' : 'conversationEdits.itsOwnerCanRestoreIt')}</p>
        {typed.trim() === '' ? null : (
          <figure className="mt-3 text-left">
            <figcaption className="text-xs">{t('conversationEdits.whatYouTyped')}</figcaption>
            <blockquote
              dir="auto"
              className="max-h-48 overflow-auto rounded-md border border-line bg-surface px-3 py-2 break-words whitespace-pre-wrap text-ink"
            >
              {typed}
            </blockquote>
          </figure>
        )}
      </EmptyState>
    </div>
  );
}

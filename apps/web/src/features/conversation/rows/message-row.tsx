'use client';
import { CircleCheck, Megaphone } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { Ago } from '../../../browser/ago.tsx';
import { MessageFiles } from '../../attachments/message-files.tsx';
import { MentionText } from '../../mention/mention-text.tsx';
import { useMe } from '../../session/me.ts';
import { authorName } from '../author-name.ts';
import { LongText } from '../long-text.tsx';
import { Markdown } from '../markdown.tsx';
import type { RowOf } from '../timeline-row.ts';

/**
 * What a user wrote stands in a box; what the agent wrote is the page itself; what the platform sent the agent by
 * itself is an aside.
 */
export function MessageRow({ row }: { row: RowOf<'message'> }) {
  const t = useTranslations();
  const me = useMe().data;
  if (row.author === 'slipway')
    return (
      <div className="my-1 flex gap-2 py-1 pl-7 text-sm text-ink-muted">
        <Megaphone aria-hidden className="mt-[3px] size-4 shrink-0" />
        <div className="min-w-0 flex-1">
          <p className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium text-ink">{t('conversation.noteFromSlipwayToThe')}</span>
            <Ago at={row.at} className="text-xs" />
          </p>
          <LongText text={row.text} className="whitespace-pre-wrap [overflow-wrap:anywhere]" />
        </div>
      </div>
    );
  if (row.author === 'user')
    return (
      <div className="py-2.5">
        <div className="rounded-lg border border-line bg-raised px-3.5 py-2.5">
          <p className="mb-1 flex items-center gap-2 text-xs text-ink-muted">
            <span className="font-medium text-ink">{authorName(t, row, me?.id)}</span>
            <Ago at={row.at} />
          </p>
          <LongText
            text={row.text}
            className="whitespace-pre-wrap [overflow-wrap:anywhere]"
            render={(text) => <MentionText text={text} />}
          />
          {row.files === undefined ? null : <MessageFiles files={row.files} />}
        </div>
      </div>
    );
  return (
    <div className="py-2.5">
      {row.author === 'finish' ? (
        <p className="mb-1 flex items-center gap-1.5 text-sm font-medium text-ok">
          <CircleCheck aria-hidden className="size-4" /> {t('conversation.finished')}
        </p>
      ) : null}
      <Markdown text={row.text} />
    </div>
  );
}

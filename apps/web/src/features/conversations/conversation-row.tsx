'use client';
import type { ConversationSummary } from '@slipway/contracts/conversations';
import { Badge, StatusChip } from '@slipway/ui';
import { FolderGit2, GitBranch, Pin } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { memo } from 'react';
import { Ago } from '../../browser/ago.tsx';
import { money, repositoryName } from '../../browser/format.ts';
import { PullRequestMarks } from './pull-request-marks.tsx';
import { STATUS_LABELS, stopReasonWords } from './status-label.ts';

/** By whom or by what it was stopped. The repository beside it gives way. */
function StopReason({ conversation }: { conversation: ConversationSummary }) {
  const words = stopReasonWords(useTranslations(), conversation);
  if (words === null) return null;
  return (
    <span className="max-w-[65%] shrink-0 truncate text-ink" title={words}>
      {words}
    </span>
  );
}

export function Repository({ conversation }: { conversation: Pick<ConversationSummary, 'repository' | 'branch'> }) {
  const t = useTranslations();
  if (conversation.repository === null) return <span className="truncate">{t('conversations.noRepository')}</span>;
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="flex min-w-0 items-center gap-1" title={conversation.repository}>
        <FolderGit2 aria-hidden className="size-3.5 shrink-0" />
        <span className="truncate">{repositoryName(conversation.repository)}</span>
      </span>
      {conversation.branch === null ? null : (
        <span className="flex min-w-0 items-center gap-1">
          <GitBranch aria-hidden className="size-3.5 shrink-0" />
          <span className="truncate">{conversation.branch}</span>
        </span>
      )}
    </span>
  );
}

const COLUMNS = 'md:grid-cols-[minmax(0,2.4fr)_132px_minmax(0,1.6fr)_72px_minmax(0,0.8fr)_92px]';

/** Names over the columns, for the eye; each line says its own parts in full. */
export function ConversationColumns() {
  const t = useTranslations();
  return (
    <div
      aria-hidden
      className={`hidden h-9 shrink-0 items-center gap-4 border-b border-line px-4 text-xs text-ink-muted md:grid md:px-6 ${COLUMNS}`}
    >
      <span>{t('conversations.title')}</span>
      <span>{t('conversations.status')}</span>
      <span>{t('common.repository')}</span>
      <span className="text-right">{t('common.cost')}</span>
      <span>{t('common.owner')}</span>
      <span className="text-right">{t('common.created')}</span>
    </div>
  );
}

/** Tags in a line; the others are counted. */
const MAX_SHOWN_TAGS = 2;

/** One line of the list, the whole of it a link; below 768 px the same on two short lines, without the owner. */
export const ConversationLine = memo(function ConversationLine({
  orgSlug,
  conversation,
}: {
  orgSlug: string;
  conversation: ConversationSummary;
}) {
  const t = useTranslations();
  return (
    <Link
      href={`/${orgSlug}/conversations/${conversation.id}`}
      className={`grid grid-cols-[1fr_auto] items-center gap-x-4 gap-y-0.5 border-b border-line px-4 py-2.5 text-sm outline-offset-[-2px] hover:bg-raised md:h-11 md:px-6 md:py-0 ${COLUMNS}`}
    >
      <span className="flex min-w-0 items-center gap-2">
        {conversation.pinned ? (
          <>
            <Pin aria-hidden className="size-3.5 shrink-0 text-ink-muted" />
            <span className="sr-only">{t('conversations.pinned')}</span>
          </>
        ) : null}
        <span dir="auto" className="min-w-0 truncate font-medium">
          {conversation.title}
        </span>
        {conversation.tags.slice(0, MAX_SHOWN_TAGS).map((tag) => (
          <Badge key={tag} className="max-w-24 min-w-0 shrink truncate max-sm:hidden">
            {tag}
          </Badge>
        ))}
        {conversation.tags.length > MAX_SHOWN_TAGS ? (
          <span className="text-xs text-ink-muted" title={conversation.tags.join(', ')}>
            +{conversation.tags.length - MAX_SHOWN_TAGS}
          </span>
        ) : null}
      </span>
      <StatusChip
        state={conversation.status}
        label={t(STATUS_LABELS[conversation.status])}
        className="justify-self-start max-md:justify-self-end"
      />
      <span className="flex min-w-0 gap-3 text-xs text-ink-muted">
        <StopReason conversation={conversation} />
        <Repository conversation={conversation} />
        {conversation.pullRequest === null ? null : <PullRequestMarks pull={conversation.pullRequest} />}
        <Ago at={conversation.createdAt} className="shrink-0 md:hidden" />
      </span>
      <span className="text-right text-xs text-ink-muted tabular-nums" title={`$${conversation.costUsd}`}>
        {money(Number(conversation.costUsd))}
      </span>
      <span className="min-w-0 truncate text-xs text-ink-muted max-md:hidden">{conversation.createdBy.label}</span>
      <span className="text-right text-xs text-ink-muted max-md:hidden">
        <Ago at={conversation.createdAt} />
      </span>
    </Link>
  );
});

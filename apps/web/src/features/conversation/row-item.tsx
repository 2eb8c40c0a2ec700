'use client';
import { cn } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { memo, useMemo } from 'react';
import { useMe } from '../session/me.ts';
import { useConversation } from './conversation-context.ts';
import { rowName } from './row-name.ts';
import { RowView } from './rows/row-view.tsx';
import type { Row } from './timeline-row.ts';
import { workspacePaths } from './workspace-path.ts';

/** A row as something with a name that the focus can rest on. */
export const RowItem = memo(function RowItem({ row, marked }: { row: Row; marked: boolean }) {
  const t = useTranslations();
  const { conversation } = useConversation();
  const reader = useMe().data?.id;
  const name = useMemo(
    () => rowName(row, { t, reader, paths: workspacePaths(conversation.repository) }),
    [row, t, reader, conversation.repository],
  );
  return (
    <article
      aria-label={name}
      data-row={row.key}
      tabIndex={-1}
      className={cn('rounded-md outline-offset-2', marked && 'bg-accent-soft')}
    >
      <RowView row={row} />
    </article>
  );
});

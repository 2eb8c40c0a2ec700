'use client';
import { assertNever } from '@slipway/contracts/events';
import { CirclePause, CircleStop } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { memo } from 'react';
import type { Row } from '../timeline-row.ts';
import { EgressRow } from './egress-row.tsx';
import { ErrorRow } from './error-row.tsx';
import { HookRow } from './hook-row.tsx';
import { MessageRow } from './message-row.tsx';
import { RetryRow } from './retry-row.tsx';
import { ServersRow } from './servers-row.tsx';
import { StartRow } from './start-row.tsx';
import { StepsRow } from './steps-row.tsx';
import { SummaryRow } from './summary-row.tsx';
import { TasksRow } from './tasks-row.tsx';
import { ThoughtRow } from './thought-row.tsx';

/** One row of the timeline. Rows never change once they are past, so neither do their elements. */
export const RowView = memo(function RowView({ row }: { row: Row }) {
  const t = useTranslations();
  switch (row.kind) {
    case 'start':
      return <StartRow row={row} />;
    case 'message':
      return <MessageRow row={row} />;
    case 'steps':
      return <StepsRow row={row} />;
    case 'thought':
      return <ThoughtRow row={row} />;
    case 'tasks':
      return <TasksRow row={row} />;
    case 'hook':
      return <HookRow row={row} />;
    case 'servers':
      return <ServersRow row={row} />;
    case 'summary':
      return <SummaryRow row={row} />;
    case 'egress':
      return <EgressRow row={row} />;
    case 'error':
      return <ErrorRow row={row} />;
    case 'retry':
      return <RetryRow row={row} />;
    case 'gap':
      return <p className="py-2 text-sm text-ink-muted">{t('conversation.notLoaded', { count: row.events })}</p>;
    case 'note':
      return (
        <p className="flex items-center gap-2 py-2 text-sm text-ink-muted">
          {row.note === 'paused' ? (
            <CirclePause aria-hidden className="size-4" />
          ) : (
            <CircleStop aria-hidden className="size-4" />
          )}
          {row.note === 'paused' ? t('conversation.paused') : t('conversation.stopped')}
        </p>
      );
    default:
      return assertNever(row);
  }
});

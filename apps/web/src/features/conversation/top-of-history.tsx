'use client';
import { AfterDelay, Spinner } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { Failed } from '../frame/failed.tsx';
import { useConversation } from './conversation-context.ts';
import { StartRow } from './rows/start-row.tsx';
import type { HistoryPages } from './use-history-pages.ts';

/** Over the top of the list while a page of older events is on its way or did not come. */
export function OlderNote({ history }: { history: HistoryPages }) {
  const t = useTranslations();
  if (history.state === 'failed')
    return <Failed error={history.error} retry={history.retry} className="pointer-events-auto shadow-float" />;
  if (history.state === 'idle') return null;
  return (
    <AfterDelay>
      <p
        role="status"
        className="flex items-center gap-2 rounded-full border border-line bg-surface px-3 py-1 text-xs text-ink-muted shadow-float"
      >
        <Spinner className="size-3.5" /> {t('conversation.loadingOlderEvents')}
      </p>
    </AfterDelay>
  );
}

/** Before the first event is in the log, the start stands where it will be. */
export function StartPlaceholder() {
  const t = useTranslations();
  const { conversation } = useConversation();
  return (
    <StartRow
      row={{
        kind: 'start',
        key: 'start:0',
        seq: 0,
        attempt: 1,
        steps: [
          {
            attempt: 1,
            status: 'WORKING',
            state: 'running',
            startedAt: conversation.createdAt,
            detail: t('conversation.waitingForAWorker'),
          },
        ],
      }}
    />
  );
}

'use client';
import { AfterDelay, Skeleton } from '@slipway/ui';
import { Failed } from '../frame/failed.tsx';
import { useConversation } from './conversation-context.ts';
import { StartRow } from './rows/start-row.tsx';
import type { HistoryPages } from './use-history-pages.ts';

/** What is above the first loaded row: more, nothing, or a page that did not come. */
export function TopOfHistory({ history, top }: { history: HistoryPages; top: boolean }) {
  if (history.state === 'failed') return <Failed error={history.error} retry={history.loadOlder} className="my-3" />;
  if (top) return <div className="h-4" />;
  return (
    <div className="flex flex-col gap-2 py-4" role="status" aria-label="Loading older events">
      <AfterDelay>
        <Skeleton className="h-8 w-full" />
        <Skeleton className="h-8 w-full" />
      </AfterDelay>
    </div>
  );
}

/** Before the first event is in the log, the start stands where it will be. */
export function StartPlaceholder() {
  const { conversation } = useConversation();
  return (
    <StartRow
      row={{
        kind: 'start',
        key: 'start:0',
        seq: 0,
        attempt: 1,
        steps: [{ attempt: 1, status: 'WORKING', state: 'running', startedAt: conversation.createdAt, detail: 'Waiting for a worker to take the task' }],
      }}
    />
  );
}

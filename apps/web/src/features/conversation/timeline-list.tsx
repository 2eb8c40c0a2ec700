'use client';
import { Button } from '@slipway/ui';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { ConnectionMark, ReconnectNote } from './connection.tsx';
import { useConversation, useSlice, useView } from './conversation-context.ts';
import { LiveEdge } from './live-edge.tsx';
import { RowView } from './rows/row-view.tsx';
import type { Row } from './timeline-row.ts';
import { StartPlaceholder, TopOfHistory } from './top-of-history.tsx';
import type { HistoryPages } from './use-history-pages.ts';

/** Closer to the end than this counts as reading the newest. Pixels. */
const END_THRESHOLD = 48;
/** Older events are fetched when the reader comes this close to the top. Pixels. */
const TOP_THRESHOLD = 1_200;

function estimate(row: Row | undefined): number {
  if (row === undefined) return 36;
  switch (row.kind) {
    case 'message':
      return 56 + Math.ceil(row.text.length / 90) * 22;
    case 'start':
      return 60;
    case 'error':
      return 120;
    case 'tasks':
      return 40 + row.tasks.length * 24;
    default:
      return 38;
  }
}

/**
 * The log as a virtual list. It follows the newest row only while the reader is there; otherwise nothing moves under them,
 * whatever is added above or below.
 */
export function TimelineList({ history }: { history: HistoryPages }) {
  const { store } = useConversation();
  const rows = useView((view) => view.timeline.rows);
  const live = useSlice(store.live) !== null;
  const working = useView((view) => view.status === 'working');
  const tail = live || working;
  const top = useView((view) => view.firstSeq <= 1);
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  /** `seq` of the last row when the reader left the live edge; `null` at the edge. */
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const count = rows.length + 2;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (index === 0 ? 24 : index === count - 1 ? 40 : estimate(rows[index - 1])),
    getItemKey: (index) => (index === 0 ? 'top' : index === count - 1 ? 'tail' : (rows[index - 1]?.key ?? index)),
    anchorTo: 'end',
    scrollEndThreshold: END_THRESHOLD,
    overscan: 8,
    paddingEnd: 16,
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs whenever what is shown has grown
  useLayoutEffect(() => {
    if (following.current) virtualizer.scrollToEnd();
  }, [rows, tail, virtualizer]);

  const { loadOlder } = history;
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight <= END_THRESHOLD;
    if (atEnd !== following.current) {
      following.current = atEnd;
      setLeftAt(atEnd ? null : store.view.get().lastSeq);
    }
    if (element.scrollTop < TOP_THRESHOLD) loadOlder();
  }, [store, loadOlder]);

  const short = history.state === 'idle' && !top && virtualizer.getTotalSize() < (scroller.current?.clientHeight ?? 0) + TOP_THRESHOLD;
  useEffect(() => {
    if (short) loadOlder();
  }, [short, loadOlder]);

  const fresh = leftAt === null ? 0 : countAfter(rows, leftAt);
  const toEnd = () => {
    following.current = true;
    setLeftAt(null);
    virtualizer.scrollToEnd();
  };

  return (
    <div className="relative min-h-0 flex-1">
      <ReconnectNote />
      <div
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-live="off"
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto outline-offset-[-2px] [overflow-anchor:none]"
      >
        <div className="relative mx-auto max-w-3xl" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const row = rows[item.index - 1];
            return (
              <div
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0 px-4 md:px-6"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {item.index === 0 ? (
                  <>
                    <TopOfHistory history={history} top={top} />
                    {rows.length === 0 && top ? <StartPlaceholder /> : null}
                  </>
                ) : row ? (
                  <RowView row={row} />
                ) : (
                  <LiveEdge shown={tail} />
                )}
              </div>
            );
          })}
        </div>
      </div>
      <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
        {leftAt === null ? null : (
          <Button size="small" onClick={toEnd} className="pointer-events-auto rounded-full shadow-float">
            <ArrowDown aria-hidden />
            {fresh === 0 ? 'Newest' : `${fresh} new`}
          </Button>
        )}
      </div>
      <ConnectionMark />
    </div>
  );
}

/** How many rows are newer than `seq`; looks only at those. */
function countAfter(rows: readonly Row[], seq: number): number {
  let newer = 0;
  while ((rows[rows.length - 1 - newer]?.seq ?? 0) > seq) newer += 1;
  return newer;
}

'use client';
import { Button } from '@slipway/ui';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { ConnectionMark, ReconnectNote } from './connection.tsx';
import { useConversation, usePicked, useView } from './conversation-context.ts';
import { EarlyRows } from './early-conversation.tsx';
import { Find } from './find/find.tsx';
import { EndOfRows } from './live-edge.tsx';
import { usePreview } from './page-preview.tsx';
import { PermalinkNote } from './permalink-note.tsx';
import { RecapBar } from './recap/recap-bar.tsx';
import { RowItem } from './row-item.tsx';
import { rowsAround } from './stretch.ts';
import type { Row } from './timeline-row.ts';
import { OlderNote, StartPlaceholder } from './top-of-history.tsx';
import { TurnRail } from './turns/turn-rail.tsx';
import type { HistoryPages } from './use-history-pages.ts';
import { useMissingPages } from './use-missing-pages.ts';
import { useReadMark } from './use-read-mark.ts';
import { useReveal } from './use-reveal.ts';
import { useRowCommands } from './use-row-commands.ts';
import { useRowFocus } from './use-row-focus.ts';
import { isInSight, useSettle } from './use-settle.ts';

/** Closer to the end than this counts as reading the newest. Pixels. */
const END_THRESHOLD = 48;
/** What may lie over the top of the list: a row that is gone to stands below it. Pixels. */
const NOTES_HEIGHT = 64;
/** How long what a reader opened may take to grow. Milliseconds. */
const HANDLED_MS = 300;

function toBottom(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
}

const isRecent = (time: number): boolean => performance.now() - time < HANDLED_MS;

function estimate(row: Row | undefined): number {
  if (row === undefined) return 36;
  switch (row.kind) {
    case 'message':
      return Math.min(560, 56 + Math.ceil(row.text.length / 90) * 22);
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
 * The log as a virtual list. It follows the newest row only while the reader is there; otherwise nothing moves under
 * them, whatever is added above or below.
 */
export function TimelineList({ history }: { history: HistoryPages }) {
  const t = useTranslations();
  const { store, conversation } = useConversation();
  const preview = usePreview(conversation.id);
  const ofEnd = useView((view) => view.timeline.rows);
  const firstSeq = useView((view) => view.firstSeq);
  const apart = useView((view) => view.apart);
  const rows = useMemo(() => rowsAround(apart, ofEnd, firstSeq), [apart, ofEnd, firstSeq]);
  const live = usePicked(store.live, isThere);
  const working = useView((view) => view.status === 'working');
  const tail = live || working;
  const top = (apart?.firstSeq ?? firstSeq) <= 1;
  const scroller = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  useReadMark(following);
  /** Where the list stood at the last look. */
  const seen = useRef({ top: 0, height: 0 });
  /** When the reader last opened or closed a row: what grows then is theirs to look at. */
  const handledAt = useRef(Number.NEGATIVE_INFINITY);
  /** `seq` of the last row when the reader left the live edge; `null` at the edge. */
  const [leftAt, setLeftAt] = useState<number | null>(null);
  /**
   * The rows, and the live edge below them. What stands above is no item: the first row must be what a page put above
   * it anchors to.
   */
  const count = rows.length + 1;
  const focus = useRowFocus(rows, scroller, (index) => {
    virtualizer.scrollToIndex(index, { align: 'auto' });
    settle(rows[index]?.key ?? '');
  });
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (index === rows.length ? 40 : estimate(rows[index])),
    getItemKey: (index) => (index === rows.length ? 'live' : (rows[index]?.key ?? index)),
    anchorTo: 'end',
    scrollEndThreshold: END_THRESHOLD,
    overscan: 8,
    rangeExtractor: focus.rangeExtractor,
    paddingStart: 16,
    scrollPaddingStart: NOTES_HEIGHT,
    paddingEnd: 28,
  });

  /**
   * Rows are measured late, so the list moves by itself too; only a way up that is longer than what went missing is the
   * reader's.
   */
  const look = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const { scrollTop: top, scrollHeight: height } = element;
    const atEnd = height - top - element.clientHeight <= END_THRESHOLD;
    const byReader =
      isRecent(handledAt.current) || seen.current.top - top - Math.max(0, seen.current.height - height) > 1;
    seen.current = { top, height };
    if (atEnd !== following.current && (atEnd || byReader)) {
      following.current = atEnd;
      setLeftAt(atEnd ? null : store.view.get().lastSeq);
    } else if (following.current && !atEnd)
      requestAnimationFrame(() => following.current && toBottom(scroller.current));
  }, [store]);

  const size = virtualizer.getTotalSize();
  const room = virtualizer.scrollRect?.height;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs whenever what is shown, or the room for it, has changed
  useLayoutEffect(() => {
    if (isRecent(handledAt.current)) look();
    if (!following.current) return;
    toBottom(scroller.current);
    // While it measures, the list puts its own position back after this.
    const frame = requestAnimationFrame(() => following.current && toBottom(scroller.current));
    return () => cancelAnimationFrame(frame);
  }, [rows, tail, size, room]);

  const loadMissing = useMissingPages(rows, history, scroller, virtualizer);
  const onScroll = useCallback(() => {
    look();
    loadMissing();
  }, [look, loadMissing]);

  const settle = useSettle(rows, scroller, (index) => virtualizer.scrollToIndex(index, { align: 'start' }));
  const goTo = (index: number, withFocus = true) => {
    const key = rows[index]?.key ?? '';
    const before = scroller.current?.scrollTop;
    following.current = false;
    setLeftAt(store.view.get().lastSeq);
    virtualizer.scrollToIndex(index, { align: 'start' });
    settle(key);
    if (withFocus) focus.focus(index);
    // From a row near the end to a later one nothing scrolls, so nothing else would say that the list is at its end.
    requestAnimationFrame(() => {
      if (scroller.current?.scrollTop === before && isInSight(scroller.current, key)) look();
    });
  };
  const revealed = useReveal(rows, history, goTo);
  useRowCommands(rows, {
    focused: focus.index,
    inSight: () => virtualizer.getVirtualItemForOffset(scroller.current?.scrollTop ?? 0)?.index ?? rows.length,
    goTo,
    history,
    top,
  });

  const fresh = leftAt === null ? 0 : countAfter(rows, leftAt);
  const toEnd = () => {
    following.current = true;
    setLeftAt(null);
    toBottom(scroller.current);
  };

  return (
    <div className="relative min-h-0 flex-1">
      <TurnRail />
      <div className="pointer-events-none absolute inset-0 z-10 flex flex-col items-center gap-2 px-4 pt-2 [container-type:size]">
        <ReconnectNote />
        <RecapBar />
        <Find />
        <PermalinkNote />
        {top && apart === null ? null : <OlderNote history={history} />}
      </div>
      <div
        ref={scroller}
        onScroll={onScroll}
        onClickCapture={(event) => {
          if ((event.target as Element).closest('[aria-expanded]')) handledAt.current = performance.now();
        }}
        onFocus={focus.onFocus}
        onKeyDown={focus.onKeyDown}
        role="log"
        aria-live="off"
        aria-busy={(rows.length === 0 && !top) || undefined}
        aria-label={t('conversation.timeline')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto outline-offset-[-2px] [overflow-anchor:none]"
      >
        {rows.length === 0 && top ? (
          <div className="mx-auto max-w-3xl px-4 pt-4 md:px-6">
            <StartPlaceholder />
          </div>
        ) : null}
        <div className="relative mx-auto max-w-3xl" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              <div
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                className="absolute inset-x-0 top-0 px-4 md:px-6"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row ? <RowItem row={row} marked={row.key === revealed} /> : <EndOfRows working={tail} />}
              </div>
            );
          })}
        </div>
        {/* Inside what scrolls, so that a wheel over it still scrolls. */}
        <div className="pointer-events-none sticky bottom-2 flex h-0 items-end justify-center">
          {leftAt === null ? null : (
            <Button size="small" onClick={toEnd} className="pointer-events-auto rounded-full shadow-float">
              <ArrowDown aria-hidden />
              {fresh === 0 ? t('conversation.newest') : t('conversation.new', { fresh })}
            </Button>
          )}
        </div>
      </div>
      {rows.length === 0 && !top && preview !== null ? <EarlyRows rows={preview.rows} /> : null}
      <ConnectionMark />
    </div>
  );
}

const isThere = (value: unknown): boolean => value !== null;

/** How many rows are newer than `seq`; looks only at those. */
function countAfter(rows: readonly Row[], seq: number): number {
  let newer = 0;
  while ((rows[rows.length - 1 - newer]?.seq ?? 0) > seq) newer += 1;
  return newer;
}

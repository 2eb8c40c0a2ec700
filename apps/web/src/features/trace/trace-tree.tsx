// biome-ignore-all lint/a11y/useSemanticElements: rows of a virtual list stand where they belong, which a table's cannot
'use client';
import { type ConversationTrace, TRACE_PARTS, type TraceTurn } from '@slipway/contracts/conversations';
import { cn } from '@slipway/ui';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useId, useMemo, useRef, useState } from 'react';
import { duration } from '../../browser/format.ts';
import { PART_COLOURS } from './part-colours.ts';
import { barOf, rowsOf, stepOf, type TraceRow } from './trace-rows.ts';
import { figuresOf, labelOf, partOf } from './trace-words.ts';

/** Height of a row: a name above a bar, and what a finger can hit. Pixels. */
const ROW = 44;
const OVERSCAN = 10;

/** The waterfall as a tree grid of any length: arrows move and fold, Enter shows the row in the timeline. */
export function TraceTree({ trace, show }: { trace: ConversationTrace; show: (seq: number) => void }) {
  const t = useTranslations();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const rows = useMemo(() => rowsOf(trace.spans, closed), [trace.spans, closed]);
  const turns = useMemo(
    () => new Map(trace.turns.map((turn, index) => [turn.span, { ...turn, number: index + 1 }])),
    [trace.turns],
  );
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]?.span.id ?? index,
    overscan: OVERSCAN,
  });
  const id = useId();
  const items = list.getVirtualItems();
  const activeIndex = active === null ? -1 : rows.findIndex(({ span }) => span.id === active);
  const until = Date.parse(trace.asOf) - Date.parse(trace.startedAt);

  const fold = (span: string, isClosed: boolean): void => {
    const next = new Set(closed);
    if (isClosed) next.add(span);
    else next.delete(span);
    setClosed(next);
  };
  const goTo = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    setActive(row.span.id);
    list.scrollToIndex(index, { align: 'auto' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const step = stepOf(rows, Math.max(0, activeIndex), event.key, Math.max(1, items.length - 2 * OVERSCAN));
    if (step === null) return;
    event.preventDefault();
    if ('to' in step) goTo(step.to);
    else if ('show' in step) show(step.show);
    else if ('fold' in step) fold(step.fold, true);
    else fold(step.unfold, false);
  };

  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label={t('trace.traceByTurn')}
      aria-rowcount={rows.length}
      tabIndex={0}
      aria-activedescendant={items.some(({ index }) => index === activeIndex) ? `${id}-${activeIndex}` : undefined}
      onKeyDown={onKeyDown}
      onFocus={() => active === null && goTo(0)}
      className={cn('group min-h-0 flex-1 overflow-y-auto outline-offset-[-2px]', activeIndex >= 0 && 'outline-none')}
    >
      <div role="presentation" className="relative w-full" style={{ height: list.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            <Line
              key={item.key}
              id={`${id}-${item.index}`}
              index={item.index}
              row={row}
              top={item.start}
              until={until}
              turn={turns.get(row.span.id)}
              isActive={row.span.id === active}
              toggle={() => {
                setActive(row.span.id);
                fold(row.span.id, row.expanded === true);
              }}
              press={() => {
                setActive(row.span.id);
                if (row.seq !== null) show(row.seq);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

interface LineProps {
  id: string;
  index: number;
  row: TraceRow;
  top: number;
  until: number;
  /** Of a turn's own row. */
  turn: (TraceTurn & { readonly number: number }) | undefined;
  isActive: boolean;
  toggle: () => void;
  press: () => void;
}

function Line({ id, index, row, top, until, turn, isActive, toggle, press }: LineProps) {
  const t = useTranslations();
  const { span } = row;
  const { cost, tokens } = figuresOf(t, turn ?? span);
  const length = duration(span.ms ?? Math.max(0, until - span.at));
  const label = labelOf(t, span, turn);
  const failed = span.status === 'error';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    <div
      role="row"
      tabIndex={-1}
      id={id}
      aria-rowindex={index + 1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.expanded ?? undefined}
      aria-selected={isActive}
      onClick={press}
      title={row.seq === null ? undefined : t('trace.showInTimeline')}
      style={{ top, height: ROW }}
      className={cn(
        'absolute inset-x-0 flex flex-col justify-center gap-1 px-3 text-sm hover:bg-raised',
        row.seq !== null && 'cursor-pointer',
        row.level === 1 && 'border-t border-line font-medium',
        isActive &&
          'bg-raised group-focus-visible:outline-2 group-focus-visible:-outline-offset-2 group-focus-visible:outline-accent',
      )}
    >
      <div className="flex min-w-0 items-center gap-2">
        <div
          role="gridcell"
          tabIndex={-1}
          className="flex min-w-0 flex-1 items-center gap-1"
          style={{ paddingLeft: (row.level - 1) * 12 }}
        >
          {row.expanded === null ? (
            <span aria-hidden className="size-4 shrink-0" />
          ) : (
            // biome-ignore lint/a11y/useKeyWithClickEvents: left and right arrows of the grid do it
            // biome-ignore lint/a11y/noStaticElementInteractions: the row says that it can be folded
            <span
              onClick={(event) => {
                event.stopPropagation();
                toggle();
              }}
              className="grid shrink-0 place-items-center touch:-my-3 touch:-ml-3 touch:size-10"
            >
              <ChevronRight aria-hidden className={cn('size-4 text-ink-muted', row.expanded && 'rotate-90')} />
            </span>
          )}
          <span
            className={cn(
              'truncate',
              (span.kind === 'chat' || span.kind === 'tool') && 'font-mono text-xs',
              failed && 'text-bad',
            )}
          >
            {label}
          </span>
          {failed ? <span className="shrink-0 truncate font-mono text-xs text-bad">{span.code}</span> : null}
        </div>
        <div
          role="gridcell"
          tabIndex={-1}
          className="hidden shrink-0 text-xs font-normal text-ink-muted tabular-nums @lg:block"
        >
          {tokens}
        </div>
        <div role="gridcell" tabIndex={-1} className="shrink-0 text-xs font-normal text-ink-muted tabular-nums">
          {cost}
        </div>
        <div role="gridcell" tabIndex={-1} className="w-20 shrink-0 text-right text-xs font-normal tabular-nums">
          {span.status === 'running' ? <span className="text-accent">{length}…</span> : length}
        </div>
      </div>
      <div aria-hidden className="relative h-1.5 overflow-hidden rounded-sm bg-raised">
        {turn === undefined ? <Bar row={row} until={until} /> : <Parts turn={turn} />}
      </div>
    </div>
  );
}

function Bar({ row, until }: { row: TraceRow; until: number }) {
  const { left, width } = barOf(row, until);
  const colour = row.span.status === 'error' ? 'bg-bad' : PART_COLOURS[partOf(row.span.kind)];
  return (
    <div
      className={cn('absolute inset-y-0 min-w-0.5 rounded-sm', colour)}
      style={{ left: `min(${left * 100}%, calc(100% - 2px))`, width: `${width * 100}%` }}
    />
  );
}

/** A turn's time by part, side by side. */
function Parts({ turn }: { turn: TraceTurn }) {
  return (
    <div className="flex h-full">
      {TRACE_PARTS.map((part) => (
        <div key={part} className={PART_COLOURS[part]} style={{ flexGrow: turn.parts[part], flexBasis: 0 }} />
      ))}
    </div>
  );
}

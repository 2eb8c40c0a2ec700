'use client';
import { defaultRangeExtractor, type Range } from '@tanstack/react-virtual';
import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { Row } from './timeline-row.ts';

/** The row that has the focus, and how it comes to another one. */
export interface RowFocus {
  /** Place of the row that has the focus, or had it last; -1: none. */
  readonly index: number;
  /** What the list shows beside what is in sight: the row with the focus stays, wherever the reader scrolls. */
  readonly rangeExtractor: (range: Range) => number[];
  /** Gives a row the focus as soon as it is there; the caller brings it into sight. */
  readonly focus: (index: number) => void;
  readonly onFocus: (event: { readonly target: EventTarget }) => void;
  /** ↑ and ↓ go from row to row, ↵ opens the row. Only where the list or a row has the focus, not a part of a row. */
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
}

export function useRowFocus(
  rows: readonly Row[],
  scroller: RefObject<HTMLElement | null>,
  bringIntoSight: (index: number) => void,
): RowFocus {
  const [key, setKey] = useState<string | null>(null);
  const wanted = useRef<string | null>(null);
  const index = key === null ? -1 : rows.findLastIndex((row) => row.key === key);
  useEffect(() => {
    if (wanted.current === null) return;
    // After whatever closes gives the focus back.
    const frame = requestAnimationFrame(() => {
      const row = wanted.current === null ? null : elementOf(scroller.current, wanted.current);
      if (row === null) return;
      wanted.current = null;
      row.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  });
  const focus = useCallback(
    (to: number) => {
      const row = rows[to];
      if (row === undefined) return;
      wanted.current = row.key;
      setKey(row.key);
      elementOf(scroller.current, row.key)?.focus({ preventScroll: true });
    },
    [rows, scroller],
  );
  const rangeExtractor = useCallback(
    (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return index < 0 || index >= range.count || shown.includes(index)
        ? shown
        : [...shown, index].sort((one, other) => one - other);
    },
    [index],
  );
  const onFocus = useCallback(({ target }: { readonly target: EventTarget }) => {
    const row = (target as Element).closest<HTMLElement>('article[data-row]');
    setKey(row?.dataset['row'] ?? null);
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const element = event.target as HTMLElement;
    const onRow = element.matches('article[data-row]');
    if ((!onRow && element !== scroller.current) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
      return;
    if (event.key === 'Enter' && onRow) {
      element.querySelector<HTMLElement>('[aria-expanded]')?.click();
      event.preventDefault();
    }
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
    const step = event.key === 'ArrowUp' ? -1 : 1;
    const to = onRow ? index + step : firstInSight(scroller.current, step, rows.length);
    if (to < 0 || to >= rows.length) return;
    event.preventDefault();
    bringIntoSight(to);
    focus(to);
  };
  return { index, rangeExtractor, focus, onFocus, onKeyDown };
}

function elementOf(list: HTMLElement | null, key: string): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`article[data-row="${CSS.escape(key)}"]`) ?? null;
}

/** Place of the row that is first in sight on the way: the uppermost on the way down, the lowest on the way up. */
function firstInSight(list: HTMLElement | null, step: number, count: number): number {
  if (list === null) return -1;
  const { top, bottom } = list.getBoundingClientRect();
  const seen = [...list.querySelectorAll<HTMLElement>('[data-index]')]
    .filter((item) => {
      const box = item.getBoundingClientRect();
      return box.bottom > top && box.top < bottom && Number(item.dataset['index']) < count;
    })
    .map((item) => Number(item.dataset['index']));
  return seen.length === 0 ? -1 : step > 0 ? Math.min(...seen) : Math.max(...seen);
}

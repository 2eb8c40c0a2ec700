'use client';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import type { Row } from './timeline-row.ts';

/** How often, and how many times, a row that was scrolled to is looked for. Milliseconds. */
const EVERY_MS = 150;
const LOOKS = 8;
const BY_READER = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/**
 * Rows are measured late, so a list that was scrolled to a row may come to stand elsewhere. For about a second the row
 * is scrolled to again where it is out of sight, unless the reader does anything meanwhile.
 * @returns what begins that for a row
 */
export function useSettle(
  rows: readonly Row[],
  scroller: RefObject<HTMLElement | null>,
  scrollTo: (index: number) => void,
): (key: string) => void {
  const now = useRef({ rows, scrollTo });
  now.current = { rows, scrollTo };
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  return useCallback(
    (key: string) => {
      stop.current();
      let looks = 0;
      const timer = setInterval(() => {
        looks += 1;
        const index = now.current.rows.findLastIndex((row) => row.key === key);
        if (index >= 0 && !isInSight(scroller.current, key)) now.current.scrollTo(index);
        if (looks >= LOOKS) stop.current();
      }, EVERY_MS);
      const end = (): void => stop.current();
      for (const deed of BY_READER) window.addEventListener(deed, end, { passive: true, capture: true });
      stop.current = () => {
        clearInterval(timer);
        for (const deed of BY_READER) window.removeEventListener(deed, end, { capture: true });
      };
    },
    [scroller],
  );
}

/** Whether the row is on the screen, be it in part. */
export function isInSight(list: HTMLElement | null, key: string): boolean {
  const row = list?.querySelector(`article[data-row="${CSS.escape(key)}"]`)?.getBoundingClientRect();
  const frame = list?.getBoundingClientRect();
  return row !== undefined && frame !== undefined && row.bottom > frame.top && row.top < frame.bottom;
}

'use client';
import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useRef } from 'react';
import type { Row } from './timeline-row.ts';
import type { HistoryPages } from './use-history-pages.ts';

/** Events are fetched when the reader comes this close to where they are missing. Pixels. */
const NEAR = 1_200;

/**
 * Loads what is missing near the reader: above the first row, and between a stretch that stands apart and the rest from
 * the side on which they read. @returns what does so; to be called when they scroll
 */
export function useMissingPages(
  rows: readonly Row[],
  { load }: HistoryPages,
  scroller: RefObject<HTMLElement | null>,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
): () => void {
  const now = useRef({ rows, virtualizer });
  now.current = { rows, virtualizer };
  const look = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const { rows: shown, virtualizer: list } = now.current;
    const top = element.scrollTop;
    const gap = shown.findIndex(({ kind }) => kind === 'gap');
    const start = gap < 0 ? null : list.measurementsCache[gap]?.start;
    if (start != null && start > top - NEAR && start < top + element.clientHeight + NEAR)
      return load(start < top ? 'before-rest' : 'after-apart');
    if (top < NEAR) load('above');
  }, [load, scroller]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that was read may leave the reader near the next one
  useEffect(look, [rows, look]);
  return look;
}

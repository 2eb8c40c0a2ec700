'use client';
import { useEffect, useRef, useState } from 'react';
import { useConversation } from './conversation-context.ts';
import { isLoaded } from './conversation-view.ts';
import type { Place } from './reveal.ts';
import type { Row } from './timeline-row.ts';
import type { HistoryPages } from './use-history-pages.ts';

/** How long a row that was asked for is marked. Milliseconds. */
const MARK_MS = 2_500;

/**
 * Brings the row of a position that is asked for into sight, reading what is around it where it is not loaded. Gives up
 * when that cannot be read.
 * @param rows all that are shown
 * @returns key of the row that is marked; `null`: none
 */
export function useReveal(
  rows: readonly Row[],
  history: HistoryPages,
  scrollTo: (index: number, focus: boolean) => void,
): string | null {
  const { store, reveal, openRows } = useConversation();
  const [wanted, setWanted] = useState<Place | null>(null);
  const [marked, setMarked] = useState<string | null>(null);
  const scroll = useRef(scrollTo);
  scroll.current = scrollTo;
  useEffect(() => reveal.listen(setWanted), [reveal]);
  const { state, load } = history;
  useEffect(() => {
    if (wanted === null) return;
    const view = store.view.get();
    if (!isLoaded(view, wanted.seq) && view.firstSeq > 1) {
      if (state === 'failed') setWanted(null);
      else if (state === 'idle') load(Math.max(1, wanted.seq));
      return;
    }
    setWanted(null);
    const index = rowIndexOf(rows, wanted);
    const row = rows[index];
    if (row === undefined) return;
    if (wanted.stepId !== null) {
      if (row.kind === 'steps' && row.steps.length > 1) openRows.set(row.key, true);
      openRows.set(wanted.stepId, true);
    }
    setMarked(row.key);
    scroll.current(index, wanted.focus);
  }, [wanted, rows, state, load, store, openRows]);
  useEffect(() => {
    if (marked === null) return;
    const timer = setTimeout(() => setMarked(null), MARK_MS);
    return () => clearTimeout(timer);
  }, [marked]);
  return marked;
}

/** The row of a place: the one that holds its call, else the last that begins at or before it. */
export function rowIndexOf(rows: readonly Row[], { seq, stepId }: Omit<Place, 'focus'>): number {
  const ofStep =
    stepId === null
      ? -1
      : rows.findLastIndex((row) => row.kind === 'steps' && row.steps.some((step) => step.id === stepId));
  if (ofStep >= 0) return ofStep;
  const at = Math.max(
    0,
    rows.findLastIndex((row) => row.seq <= seq),
  );
  return rows[at]?.kind === 'gap' ? at + 1 : at;
}

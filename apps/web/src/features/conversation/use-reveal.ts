'use client';
import { useEffect, useRef, useState } from 'react';
import { useConversation, useView } from './conversation-context.ts';
import type { HistoryPages } from './use-history-pages.ts';

/** How long a row that was asked for is marked. Milliseconds. */
const MARK_MS = 2_500;

/**
 * Brings the row of a position that is asked for into sight, reading older pages until it is there. Gives up when those
 * cannot be read.
 * @returns key of the row that is marked; `null`: none
 */
export function useReveal(history: HistoryPages, scrollTo: (index: number) => void): string | null {
  const { store, reveal } = useConversation();
  const rows = useView((view) => view.timeline.rows);
  const firstSeq = useView((view) => view.firstSeq);
  const [wanted, setWanted] = useState<number | null>(null);
  const [marked, setMarked] = useState<string | null>(null);
  const scroll = useRef(scrollTo);
  scroll.current = scrollTo;
  useEffect(() => reveal.listen(setWanted), [reveal]);
  const { state, loadOlder } = history;
  useEffect(() => {
    if (wanted === null) return;
    if (firstSeq > wanted && firstSeq > 1) {
      if (state === 'failed') setWanted(null);
      else if (state === 'idle') loadOlder();
      return;
    }
    setWanted(null);
    const index = Math.max(
      0,
      store.view.get().timeline.rows.findLastIndex(({ seq }) => seq <= wanted),
    );
    const row = rows[index];
    if (row === undefined) return;
    setMarked(row.key);
    scroll.current(index);
  }, [wanted, firstSeq, rows, state, loadOlder, store]);
  useEffect(() => {
    if (marked === null) return;
    const timer = setTimeout(() => setMarked(null), MARK_MS);
    return () => clearTimeout(timer);
  }, [marked]);
  return marked;
}

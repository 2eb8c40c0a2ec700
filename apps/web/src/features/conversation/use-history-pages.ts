'use client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { ConversationStore } from './conversation-store.ts';

/** Enough for the first screen of any window; small, so that it is there at once. Events. */
const FIRST_PAGE = 200;
const PAGE = 1_000;
/** Pages that are read at the same time on the way to an event far above. */
const AT_ONCE = 4;

export interface HistoryPages {
  readonly state: 'loading' | 'idle' | 'failed';
  readonly error: unknown;
  /**
   * Loads the page above the first loaded event, or all pages down to the event `until`, which then come at once: drawn
   * one after the other they would cost more than to read. Does nothing while one is on its way or nothing is above.
   */
  readonly loadOlder: (until?: number) => void;
}

/**
 * Reads the log from its end upwards. Live events arrive beside it: history never waits for the socket, nor the socket
 * for history.
 */
export function useHistoryPages(store: ConversationStore, org: string, conversation: string): HistoryPages {
  const [state, setState] = useState<{ state: HistoryPages['state']; error: unknown }>({
    state: 'loading',
    error: null,
  });
  const running = useRef<AbortController | null>(null);
  const loadOlder = useCallback(
    (until?: number) => {
      const { firstSeq, timeline } = store.view.get();
      if (firstSeq <= 1) return setState({ state: 'idle', error: null });
      if (running.current !== null) return;
      const abort = new AbortController();
      running.current = abort;
      setState({ state: 'loading', error: null });
      const size = timeline.rows.length === 0 ? FIRST_PAGE : PAGE;
      const down = Math.max(1, Math.min(until ?? firstSeq, firstSeq - size));
      const starts = [];
      for (let start = firstSeq - size; start + size > down; start -= size) starts.unshift(start);
      readAll(starts, AT_ONCE, (start) =>
        api.readEvents({
          org,
          conversation,
          query: { after: 0, before: start + size, limit: size + Math.min(0, start - 1) },
          signal: abort.signal,
        }),
      )
        .then((pages) => {
          running.current = null;
          store.prepend(pages.flatMap((page) => page.data));
          setState({ state: 'idle', error: null });
        })
        .catch((error: unknown) => {
          if (abort.signal.aborted) return;
          running.current = null;
          setState({ state: 'failed', error });
        });
    },
    [store, org, conversation],
  );
  useEffect(() => {
    loadOlder();
    return () => {
      running.current?.abort();
      running.current = null;
    };
  }, [loadOlder]);
  return { ...state, loadOlder };
}

/** The answers in the order of what was asked for. */
async function readAll<T, R>(of: readonly T[], atOnce: number, read: (each: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < of.length; at += atOnce)
    answers.push(...(await Promise.all(of.slice(at, at + atOnce).map(read))));
  return answers;
}

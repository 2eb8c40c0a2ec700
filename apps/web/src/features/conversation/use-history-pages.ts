'use client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { ConversationStore } from './conversation-store.ts';

/** Enough for the first screen of any window; small, so that it is there at once. Events. */
const FIRST_PAGE = 200;
const PAGE = 1_000;

export interface HistoryPages {
  readonly state: 'loading' | 'idle' | 'failed';
  readonly error: unknown;
  /** Loads the page above the first loaded event; does nothing while one is on its way or nothing is above. */
  readonly loadOlder: () => void;
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
  const loadOlder = useCallback(() => {
    const { firstSeq, timeline } = store.view.get();
    if (firstSeq <= 1) return setState({ state: 'idle', error: null });
    if (running.current !== null) return;
    const abort = new AbortController();
    running.current = abort;
    setState({ state: 'loading', error: null });
    const limit = Math.min(firstSeq - 1, timeline.rows.length === 0 ? FIRST_PAGE : PAGE);
    api
      .readEvents({ org, conversation, query: { after: 0, before: firstSeq, limit }, signal: abort.signal })
      .then((page) => {
        running.current = null;
        store.prepend(page.data);
        setState({ state: 'idle', error: null });
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        running.current = null;
        setState({ state: 'failed', error });
      });
  }, [store, org, conversation]);
  useEffect(() => {
    loadOlder();
    return () => {
      running.current?.abort();
      running.current = null;
    };
  }, [loadOlder]);
  return { ...state, loadOlder };
}

'use client';
import { useCallback, useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import type { ConversationStore } from './conversation-store.ts';
import { isLoaded } from './conversation-view.ts';
import { type Asked, pageFor } from './history-page.ts';

export interface HistoryPages {
  readonly state: 'loading' | 'idle' | 'failed';
  readonly error: unknown;
  /**
   * Loads the page above the first loaded event, a page of what is missing, or what is around an event. Does nothing
   * while one is on its way or nothing is missing.
   */
  readonly load: (asked: Asked) => void;
  /** Loads what could not be loaded last. */
  readonly retry: () => void;
}

/**
 * Reads the log from its end upwards, and around an event that is gone to. Live events arrive beside it: history never
 * waits for the socket, nor the socket for history.
 */
export function useHistoryPages(store: ConversationStore, org: string, conversation: string): HistoryPages {
  const [state, setState] = useState<{ state: HistoryPages['state']; error: unknown }>({
    state: 'loading',
    error: null,
  });
  const running = useRef<AbortController | null>(null);
  const last = useRef<Asked>('above');
  const load = useCallback(
    (asked: Asked) => {
      if (running.current !== null) return;
      const page = pageFor(store.view.get(), asked);
      if (page === null) return setState({ state: 'idle', error: null });
      last.current = asked;
      const abort = new AbortController();
      running.current = abort;
      setState({ state: 'loading', error: null });
      const { first, last: end, apart } = page;
      api
        .readEvents({
          org,
          conversation,
          query: { after: 0, before: end + 1, limit: end + 1 - first },
          signal: abort.signal,
        })
        .then(({ data }) => {
          running.current = null;
          if (apart) store.putApart(data);
          else store.prepend(data);
          if (typeof asked === 'number' && !isLoaded(store.view.get(), asked))
            throw new Error('the event is not in the page that was asked for it');
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
    load('above');
    return () => {
      running.current?.abort();
      running.current = null;
    };
  }, [load]);
  const retry = useCallback(() => load(last.current), [load]);
  return { ...state, load, retry };
}

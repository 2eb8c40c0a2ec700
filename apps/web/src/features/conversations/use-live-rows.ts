import type { ConversationSummary } from '@slipway/contracts/conversations';
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useDeskStore } from '../desk/desk-context.tsx';
import { useSession } from '../session/me.ts';
import type { ConversationFilters } from './conversation-filters.tsx';
import { withChanges } from './live-rows.ts';

/** What comes while one reading is under way waits for so long. Milliseconds. */
const GATHER_MS = 1_000;

interface Page {
  readonly data: readonly ConversationSummary[];
}

/** Keeps the pages of a list, and its pinned rows, as the organization's room says that they are. */
export function useLiveRows(filters: ConversationFilters): void {
  const { org } = useSession();
  const store = useDeskStore();
  const queries = useQueryClient();
  const text = JSON.stringify(filters);
  useEffect(() => {
    const filters = JSON.parse(text) as ConversationFilters;
    const list = ['conversations', org.id, filters];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAgain = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: list });
      }, GATHER_MS);
    };
    const end = store.onFrame((frame) => {
      let isStale = frame.stale;
      queries.setQueryData<InfiniteData<Page>>(list, (known) => {
        if (known === undefined) return known;
        const after = withChanges(known.pages, frame, filters);
        isStale ||= after.isStale;
        return { ...known, pages: [...after.pages] };
      });
      queries.setQueryData<Page>([...list, 'pinned'], (known) =>
        known === undefined ? known : withChanges([known], frame, filters).pages[0],
      );
      if (isStale) readAgain();
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [queries, org.id, store, text]);
}

'use client';
import type { EventHit } from '@slipway/contracts/conversations';
import { useEffect, useState } from 'react';
import { api } from '../../../api/client.ts';
import { useConversation } from '../conversation-context.ts';

/** Quiet time after the last letter, before the server is asked. Milliseconds. */
const SETTLE_MS = 200;
/** Most places that are asked for; a text that is in more of them is looked for with more letters. */
const MOST = 1_000;

export interface Found {
  /** Newest first. */
  readonly hits: readonly EventHit[];
  /** `part`: the server was not asked on. */
  readonly state: 'asking' | 'whole' | 'part' | 'failed';
}
const NOTHING: Found = { hits: [], state: 'whole' };

/** Places of a text in the part of the log that is not loaded when it is asked for; they come as they are found. */
export function useFound(text: string): Found {
  const { store, orgId, conversation } = useConversation();
  const [found, setFound] = useState<Found>(NOTHING);
  const q = text.trim().slice(0, 200);
  useEffect(() => {
    const { firstSeq } = store.view.get();
    if (q === '' || firstSeq <= 1) return setFound(NOTHING);
    setFound({ hits: [], state: 'asking' });
    const abort = new AbortController();
    const ask = async (): Promise<void> => {
      const hits: EventHit[] = [];
      let before: number | null = firstSeq;
      while (before !== null && hits.length < MOST) {
        const query: { q: string; before: number; limit: number } = { q, before, limit: 200 };
        const page = await api.searchEvents({
          org: orgId,
          conversation: conversation.id,
          query,
          signal: abort.signal,
        });
        hits.push(...page.data);
        before = page.page.nextBefore;
        setFound({ hits: hits.slice(), state: before === null ? 'whole' : hits.length < MOST ? 'asking' : 'part' });
      }
    };
    const timer = setTimeout(() => {
      ask().catch(() => {
        if (!abort.signal.aborted) setFound(({ hits }) => ({ hits, state: 'failed' }));
      });
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [q, store, orgId, conversation.id]);
  return found;
}

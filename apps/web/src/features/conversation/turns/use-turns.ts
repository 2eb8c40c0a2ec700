'use client';
import type { ConversationTurn } from '@slipway/contracts/conversations';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, useState } from 'react';
import { api } from '../../../api/client.ts';
import { useConversation, useView } from '../conversation-context.ts';
import { type Turn, turnsOfRows } from './turns-of-rows.ts';

/** Most answers that are asked for: a log of ten times as many events as one answer looks at. */
const MOST_PAGES = 10;

/** Turns of the whole log, those of its unloaded part as soon as the server has sent them. Oldest first. */
export function useTurns(): readonly Turn[] {
  const { orgId, conversation } = useConversation();
  const rows = useDeferredValue(useView((view) => view.timeline.rows));
  const firstSeq = useView((view) => view.firstSeq);
  // Asked once, of what was not loaded then: older pages only take turns from it.
  const [before, setBefore] = useState<number | null>(null);
  if (before === null && rows.length > 0) setBefore(firstSeq);
  const above = useQuery({
    queryKey: ['turns', orgId, conversation.id, before],
    queryFn: async ({ signal }) => {
      const turns = new Map<number, ConversationTurn>();
      let after: number | null = 0;
      for (let page = 0; page < MOST_PAGES && after !== null; page += 1) {
        const query: { after: number; before: number } = { after, before: before ?? 1 };
        const answer = await api.listTurns({ org: orgId, conversation: conversation.id, query, signal });
        for (const turn of answer.data) turns.set(turn.seq, joined(turns.get(turn.seq), turn));
        after = answer.page.nextAfter;
      }
      return [...turns.values()];
    },
    enabled: before !== null && before > 1,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return useMemo(() => turnsOfRows(above.data ?? [], rows, firstSeq), [above.data, rows, firstSeq]);
}

/** A turn that went over the end of an answer is one. */
function joined(known: ConversationTurn | undefined, turn: ConversationTurn): ConversationTurn {
  if (known === undefined) return turn;
  return { ...known, edits: known.edits + turn.edits, failures: [...known.failures, ...turn.failures] };
}

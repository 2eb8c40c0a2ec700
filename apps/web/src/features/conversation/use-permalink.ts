'use client';
import { useEffect, useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { useConversation } from './conversation-context.ts';

/**
 * Opens what `?event=412` names, each time the address begins to name it.
 * @returns what is named and is not there, as it was written; `null`: nothing. And how to take the note away.
 */
export function usePermalink(): readonly [string | null, () => void] {
  const { store, reveal } = useConversation();
  const [event, setEvent] = useAddressValue('event');
  const [missing, setMissing] = useState<string | null>(null);
  useEffect(() => {
    if (event === null) return setMissing(null);
    const seq = /^\d{1,15}$/.test(event) ? Number(event) : 0;
    const there = seq >= 1 && seq <= store.view.get().lastSeq;
    setMissing(there ? null : event);
    if (there) reveal.ask(seq);
  }, [event, store, reveal]);
  return [missing, () => setEvent(null)];
}

'use client';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import type { MessageKey } from '../../messages/translate.ts';
import { STATUS_LABELS } from '../conversations/status-label.ts';
import { useConversation } from './conversation-context.ts';
import type { ConversationView } from './conversation-view.ts';

/** At most one announcement in this time, however fast the status changes: what holds then is said. Milliseconds. */
const COALESCE_MS = 1_000;

/** Tells a screen reader, politely, that the agent works, asks or is done; never a word of what it writes. */
export function Announcer() {
  const t = useTranslations();
  const { store } = useConversation();
  const [text, setText] = useState('');
  const said = useRef(wordsOf(store.view.get()));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const speak = () => {
      timer = undefined;
      const words = wordsOf(store.view.get());
      if (words === said.current) return;
      said.current = words;
      setText(t(words));
    };
    const unsubscribe = store.view.subscribe(() => {
      if (wordsOf(store.view.get()) !== said.current) timer ??= setTimeout(speak, COALESCE_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [store, t]);
  return (
    <div aria-live="polite" className="sr-only">
      {text}
    </div>
  );
}

function wordsOf({ status, state }: Pick<ConversationView, 'status' | 'state'>): MessageKey {
  if (state.execution === 'waiting_for_confirmation') return 'reading.asks';
  if (status === 'working') return 'reading.works';
  return status === 'finished' ? 'reading.done' : STATUS_LABELS[status];
}

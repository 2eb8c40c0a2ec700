'use client';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { STATUS_LABELS } from '../conversations/status-label.ts';
import { useConversation } from './conversation-context.ts';

/** At most one announcement in this time, however fast events come. Milliseconds. */
const COALESCE_MS = 5_000;

/** Tells a screen reader the status and how much is new, politely. */
export function Announcer() {
  const t = useTranslations();
  const { store } = useConversation();
  const [text, setText] = useState('');
  const said = useRef({ status: store.view.get().status, rows: store.view.get().timeline.rows.length });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const speak = () => {
      timer = undefined;
      const { status, timeline } = store.view.get();
      const parts = [];
      if (timeline.rows.length > said.current.rows)
        parts.push(t('conversation.newInTheTimeline', { count: timeline.rows.length - said.current.rows }));
      if (status !== said.current.status) parts.push(t(STATUS_LABELS[status]));
      said.current = { status, rows: timeline.rows.length };
      if (parts.length > 0) setText(parts.join('. '));
    };
    const unsubscribe = store.view.subscribe(() => {
      timer ??= setTimeout(speak, COALESCE_MS);
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

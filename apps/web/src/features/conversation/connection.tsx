'use client';
import { cn } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useEffect, useState } from 'react';
import { useConversation, useSlice } from './conversation-context.ts';

/** A break shorter than this is not worth a word. Milliseconds. */
const QUIET_MS = 1_500;

/** Bottom right: whether what is shown is live. */
export function ConnectionMark() {
  const t = useTranslations();
  const { store } = useConversation();
  const connection = useSlice(store.connection);
  const live = connection === 'live';
  return (
    <p className="pointer-events-none absolute right-3 bottom-2 hidden items-center gap-1.5 rounded-full border border-line bg-surface px-2 py-0.5 text-xs text-ink-muted sm:flex">
      <span aria-hidden className={cn('size-2 rounded-full', live ? 'bg-ok' : 'border border-ink-muted')} />
      {live ? t('conversation.live') : connection}
    </p>
  );
}

/** Calm on purpose: the log is kept on the server and the page goes on from its cursor. */
export function ReconnectNote() {
  const t = useTranslations();
  const { store } = useConversation();
  const broken = useSlice(store.connection) === 'reconnecting';
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(broken), broken ? QUIET_MS : 0);
    return () => clearTimeout(timer);
  }, [broken]);
  return (
    <div role="status">
      {shown ? (
        <p className="rounded-full border border-line bg-surface px-3 py-1 text-xs text-ink-muted shadow-float">
          {t('conversation.reconnectingNothingIsLost')}
        </p>
      ) : null}
    </div>
  );
}

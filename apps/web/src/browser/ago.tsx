'use client';
import { useTranslations } from 'next-intl';
import { type ReactNode, useSyncExternalStore } from 'react';
import { ago, ahead, exactTime } from './format.ts';

const TICK_MS = 30_000;
let now = 0;

/** One clock for all relative times on the page. */
function subscribe(listener: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now();
    listener();
  }, TICK_MS);
  return () => clearInterval(timer);
}

function useNow(): number {
  return useSyncExternalStore(
    subscribe,
    () => (now ||= Date.now()),
    () => 0,
  );
}

/** A time that is past, relative to now; exact on hover and for machines. */
export function Ago({ at, className }: { at: string; className?: string }) {
  const t = useTranslations();
  const current = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className={className} suppressHydrationWarning>
      {current === 0 ? '' : ago(t, at, Math.max(current, Date.parse(at)))}
    </time>
  );
}

/** A time that is to come, relative to now; exact on hover and for machines. */
export function Ahead({ at, className }: { at: string; className?: string }) {
  const t = useTranslations();
  const current = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className={className} suppressHydrationWarning>
      {current === 0 ? '' : ahead(t, at, current)}
    </time>
  );
}

/** For `t.rich`: a message writes `<ago>{at}</ago>` where the time belongs in its sentence. */
export const asAgo = (at: ReactNode) => <Ago at={String(at)} />;
/** For `t.rich`: a message writes `<ahead>{at}</ahead>`. */
export const asAhead = (at: ReactNode) => <Ahead at={String(at)} />;

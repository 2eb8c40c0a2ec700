'use client';
import { useSyncExternalStore } from 'react';
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
  const current = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className={className} suppressHydrationWarning>
      {current === 0 ? '' : ago(at, Math.max(current, Date.parse(at)))}
    </time>
  );
}

/** A time that is to come, relative to now; exact on hover and for machines. */
export function Ahead({ at, className }: { at: string; className?: string }) {
  const current = useNow();
  return (
    <time dateTime={at} title={exactTime(at)} className={className} suppressHydrationWarning>
      {current === 0 ? '' : ahead(at, current)}
    </time>
  );
}

'use client';
import { useSyncExternalStore } from 'react';
import { ago, exactTime } from './format.ts';

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

/** A time relative to now, exact on hover and for machines. */
export function Ago({ at, className }: { at: string; className?: string }) {
  const current = useSyncExternalStore(
    subscribe,
    () => (now ||= Date.now()),
    () => 0,
  );
  return (
    <time dateTime={at} title={exactTime(at)} className={className} suppressHydrationWarning>
      {current === 0 ? '' : ago(at, Math.max(current, Date.parse(at)))}
    </time>
  );
}

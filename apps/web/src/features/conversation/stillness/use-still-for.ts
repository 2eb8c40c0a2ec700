'use client';
import { useEffect, useState } from 'react';
import { useConversation } from '../conversation-context.ts';
import { STILL_AFTER_MS } from './stillness.ts';

/** Milliseconds between two looks at the clock. */
const TICK_MS = 1_000;

/**
 * Whole seconds since this page last saw an event or a piece of text; `null` while that is not long, or nobody asks.
 * Renders once a second at most, and only while it is long.
 */
export function useStillFor(asked: boolean): number | null {
  const { store } = useConversation();
  const [seconds, setSeconds] = useState<number | null>(null);
  useEffect(() => {
    if (!asked) return setSeconds(null);
    let moved = performance.now();
    let seq = store.view.get().lastSeq;
    const move = () => {
      moved = performance.now();
      setSeconds(null);
    };
    const stops = [
      store.view.subscribe(() => {
        const { lastSeq } = store.view.get();
        if (lastSeq !== seq) move();
        seq = lastSeq;
      }),
      store.live.subscribe(move),
    ];
    const timer = setInterval(() => {
      const still = performance.now() - moved;
      setSeconds(still < STILL_AFTER_MS ? null : Math.floor(still / 1_000));
    }, TICK_MS);
    return () => {
      clearInterval(timer);
      for (const stop of stops) stop();
    };
  }, [asked, store]);
  return seconds;
}

import { setTimeout as wait } from 'node:timers/promises';

/** Time and chance, as arguments: tests drive them. */
export interface Timing {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** @throws the signal's reason when it ends first. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** From 0 up to, not including, 1. */
  random(): number;
}

export const SYSTEM_TIMING: Timing = {
  now: () => performance.now(),
  wait: async (milliseconds, signal) => {
    if (milliseconds > 0) await wait(milliseconds, undefined, { signal });
    else signal.throwIfAborted();
  },
  random: () => Math.random(),
};

/** Between the half and the whole of `base` doubled with every failure before, at most `most`. Milliseconds. */
export function backOff(failures: number, base: number, most: number, timing: Timing): number {
  return Math.min(most, base * 2 ** Math.min(failures, 20)) * (0.5 + timing.random() / 2);
}

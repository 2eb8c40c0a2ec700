import { afterEach, jest } from '@jest/globals';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) await cleanup();
});

/**
 * Runs `cleanup` when the current test has ended, also when it failed; the last one first. Not for `it.concurrent`: any
 * test's end runs all.
 */
export function afterTest(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

/** `Date` stands at `now` (milliseconds) until the end of the test or the next call; timers and `performance` go on. */
export function fakeDate(now: number): void {
  jest.useFakeTimers({ now, doNotFake: [...REAL] });
  afterTest(() => jest.useRealTimers());
}

const REAL = [
  'cancelAnimationFrame',
  'cancelIdleCallback',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'requestAnimationFrame',
  'requestIdleCallback',
  'setImmediate',
  'setInterval',
  'setTimeout',
] as const;

import { setTimeout as wait } from 'node:timers/promises';
import { stopwatch } from './stopwatch.js';

/** Longest that a probe may take beyond the time of the whole: one that hangs ends its file. Milliseconds. */
const HANGING_MS = 60_000;

/**
 * The first answer of `probe` that is neither `undefined`, `null` nor `false`. Polls every 10 ms.
 * @throws Error that names `what` after `timeoutMs` by a `stopwatch` (which is longer on a machine that has no time),
 * with the last error of `probe` as its cause, and a minute later when a probe has not
 * answered at all.
 */
export async function until<T>(
  what: string,
  probe: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const passed = stopwatch();
  let last: unknown;
  do {
    try {
      const answer = await answered(probe(), what, timeoutMs + HANGING_MS);
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<Exclude<T, false>>;
      last = undefined;
    } catch (error) {
      if (error instanceof Hanging) throw error;
      last = error;
    }
    await wait(10);
  } while (passed() < timeoutMs);
  throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last });
}

async function answered<T>(answer: T | Promise<T>, what: string, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Hanging(`${what}: the question hangs, ${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([answer, hangs]);
  } finally {
    clearTimeout(timer);
  }
}

class Hanging extends Error {}

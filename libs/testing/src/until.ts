import { setTimeout as wait } from 'node:timers/promises';
import { stopwatch } from './stopwatch.js';

/**
 * The first answer of `probe` that is neither `undefined`, `null` nor `false`. Polls every 10 ms.
 * @throws Error that names `what` after `timeoutMs` by a `stopwatch` (which is longer on a machine that has no time),
 * with the last error of `probe` as its cause.
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
      const answer = await probe();
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<Exclude<T, false>>;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await wait(10);
  } while (passed() < timeoutMs);
  throw new Error(`${what}: not within ${timeoutMs} ms`, { cause: last });
}

import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';

/** Timers are late by up to a millisecond: the remainder is awaited turn by turn. Milliseconds. */
const TIMER_MS = 2;

/**
 * Sends `count` requests at the moments of a Poisson process of `perSecond`, fixed before the first one, whether or not
 * those before were answered.
 * @returns milliseconds from each request's scheduled moment to its answer: the wait of a user who came at that moment.
 * @throws what the first failing request threw.
 */
export async function openLoop(
  perSecond: number,
  count: number,
  send: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const began = performance.now();
  let at = began;
  const latencies: Array<Promise<number>> = [];
  for (let index = 0; index < count; index += 1) {
    at += (-Math.log(1 - Math.random()) * 1_000) / perSecond;
    const due = at;
    if (due - performance.now() > TIMER_MS) await wait(due - performance.now() - TIMER_MS);
    while (performance.now() < due) await turn();
    const latency = send(index).then(() => performance.now() - due);
    // Seen below, all together.
    latency.catch(() => {});
    latencies.push(latency);
  }
  return Promise.all(latencies);
}

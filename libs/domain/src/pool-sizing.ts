/** Shortest and longest pause before a pool tries again after sandboxes failed to start. Milliseconds. */
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/**
 * How many blank sandboxes to start. `population` counts those that exist or are being made and are unclaimed. Never
 * negative.
 */
export function slotsToCreate(target: number, population: number): number {
  return Math.max(0, target - population);
}

/**
 * Refilling waits until no sandbox was taken for this long: a sandbox that starts takes the processor from the
 * conversation that has just got one. Milliseconds.
 */
const QUIET_MS = 500;

/**
 * May missing sandboxes be made now? Always when less than half of the target is ready, so that a claim never waits
 * because of this. `sinceTakenMs`: since the last claim.
 */
export function mayRefill(target: number, ready: number, sinceTakenMs: number): boolean {
  return ready * 2 < target || sinceTakenMs >= QUIET_MS;
}

/**
 * Wait before the next creation after `failures` in a row, doubling. Milliseconds; 0 without a failure. A command that
 * cannot start must not be started four times a second.
 */
export function creationBackoffMs(failures: number): number {
  return failures <= 0 ? 0 : Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
}

/**
 * How many of `ready` aged slots may be doomed now. At least half of what is warm stays, so that renewal never empties
 * a pool; a pool of one is renewed at once.
 */
export function slotsToRenew(aged: number, ready: number): number {
  return Math.min(aged, Math.max(1, Math.floor(ready / 2)));
}

import { readFileSync } from 'node:fs';

/** The least share of the passed time that counts: whatever the machine is busy with, waiting has an end. */
const LEAST_SHARE = 1 / 5;

/** How long something lasted: as it was, and as a `stopwatch` shows it. Milliseconds. */
export interface Lasted {
  readonly ms: number;
  readonly shownMs: number;
}

export interface Machine {
  /** Monotonic. Milliseconds. */
  now(): number;
  /**
   * For how long something on this machine has waited for a processor or a disk since it started. Milliseconds; 0 where
   * that is not known.
   */
  stalled(): number;
}

const thisMachine: Machine = { now: () => performance.now(), stalled: () => pressure('cpu') + pressure('io') };

/**
 * Starts a watch that stands still while the machine is too busy to run what wants to run; at least a fifth of the time
 * counts.
 * @returns what it shows now. Milliseconds.
 *
 * A promise such as "within two seconds" is about a machine that has time: on one that has, this is the time that has
 * passed.
 */
export function stopwatch(machine: Machine = thisMachine): () => number {
  const [began, stalledBefore] = [machine.now(), machine.stalled()];
  return () => {
    const passed = machine.now() - began;
    return Math.max(passed - (machine.stalled() - stalledBefore), passed * LEAST_SHARE);
  };
}

/** As `stopwatch`, for durations that are printed as well. */
export function lasting(): () => Lasted {
  const [began, shown] = [performance.now(), stopwatch()];
  return () => ({ ms: performance.now() - began, shownMs: shown() });
}

/** Linux counts it in microseconds; elsewhere, and in containers that hide it, it is unknown. */
function pressure(of: 'cpu' | 'io'): number {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync(`/proc/pressure/${of}`, 'latin1'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}

/**
 * What programs of the sandbox may print as fast as they can before they are slowed down: 1,000,000 lines of numbers.
 * Bytes.
 */
const AT_ONCE = 8 * 1024 * 1024;
/**
 * What they may print from then on, all of them together: more than builds and tests do, and little work for who takes
 * it. Bytes a millisecond (4 MiB a second).
 */
const PER_MS = (4 * 1024 * 1024) / 1_000;
/**
 * No pause is shorter than this: a terminal holds 12 KiB that were not taken, and is emptied in large pieces.
 * Milliseconds.
 */
const SHORTEST_WAIT_MS = 2;

/**
 * How fast output is taken from the terminals of a sandbox. What is not taken stays in the terminal, whose program the
 * kernel then lets wait: endless output costs a few hundredths of a processor, and nothing of it is lost.
 */
export class OutputAllowance {
  #left: number;
  #at: number;

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly atOnce = AT_ONCE,
    private readonly perMs = PER_MS,
  ) {
    this.#left = atOnce;
    this.#at = now();
  }

  /** @returns how long to take no more from this terminal, after these bytes. Milliseconds; 0: go on. */
  take(bytes: number): number {
    const now = this.now();
    this.#left = Math.min(this.atOnce, this.#left + (now - this.#at) * this.perMs) - bytes;
    this.#at = now;
    const wait = -this.#left / this.perMs;
    return wait < SHORTEST_WAIT_MS ? 0 : Math.ceil(wait);
  }
}

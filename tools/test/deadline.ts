/** Of a run's expected time, the largest part that may be left out before the run counts as failed. */
const MOST_LEFT_OUT = 1 / 3;

/** Longest that is kept for the second look at files that failed. Milliseconds. */
const LONGEST_RESERVE_MS = 10 * 60_000;

/** Longest that a timer of Node can be set for. Milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Begins the reason of a test that was left out for want of time. */
export const NO_TIME = 'no time was left in this run (TEST_UNTIL)';

/**
 * The end of a run that has one (docs/decisions/0067): which test files can still be begun. It learns from those that
 * have ended how slow this machine is, and keeps time for a second look at those that failed.
 */
export class Deadline {
  /** Aborted at the end. */
  readonly signal: AbortSignal;
  readonly #untilMs: number;
  readonly #now: () => number;
  #expected = 0;
  #took = 0;
  #leftOut = 0;
  #reserveMs = 0;

  /** @param untilMs milliseconds since 1970. */
  constructor(untilMs: number, now: () => number = Date.now) {
    this.#untilMs = untilMs;
    this.#now = now;
    this.signal = AbortSignal.timeout(Math.min(LONGEST_TIMER_MS, Math.max(0, untilMs - now())));
  }

  /** Of the variable TEST_UNTIL, seconds since 1970; `null` when it is not set. @throws Error when it is no number. */
  static of(value: string | undefined): Deadline | null {
    if (value === undefined || value === '') return null;
    if (!/^\d{9,11}$/.test(value)) throw new Error(`TEST_UNTIL is ${value}, and has to be seconds since 1970.`);
    return new Deadline(Number(value) * 1_000);
  }

  /** A file has ended. Seconds. */
  ended(expected: number, took: number, failed: boolean): void {
    this.#expected += expected;
    this.#took += took;
    if (failed) this.#reserveMs = Math.min(LONGEST_RESERVE_MS, this.#reserveMs + took * 1_000);
  }

  /** A file was not begun. Seconds. */
  leftOut(expected: number): void {
    this.#leftOut += expected;
  }

  /** The reserve is used now. */
  beginSecondLook(): void {
    this.#reserveMs = 0;
  }

  /** Whether a file that is expected to take so many seconds would end in time. */
  fits(expected: number): boolean {
    return this.#now() + expected * this.#slowness() * 1_000 < this.#untilMs - this.#reserveMs;
  }

  /** What makes the run a failure, as a sentence; `null` when enough of it ran. */
  complaint(): string | null {
    const all = this.#expected + this.#leftOut;
    if (this.#leftOut <= all * MOST_LEFT_OUT) return null;
    return `${Math.round((100 * this.#leftOut) / all)} % of the tests, by their time, were left out: more than a third. Give the run more time (TEST_UNTIL).`;
  }

  /** At least 1: a fast beginning says nothing of the end. */
  #slowness(): number {
    return this.#expected === 0 ? 1 : Math.max(1, this.#took / this.#expected);
  }
}

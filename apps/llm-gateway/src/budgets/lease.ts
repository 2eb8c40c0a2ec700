/** A lease begins with what this many calls like the first may cost. */
const CALLS_OF_A_LEASE = 16;
/** A lease that is used up within this grows. Milliseconds. */
const GROWS_WITHIN_MS = 1_000;
/** Ticks; 100 USD. */
const LARGEST_LEASE = 1e12;
/**
 * After a refill that was not given, the next is asked for this much later: near a limit every turn would ask for one.
 * Milliseconds.
 */
const ASKS_AGAIN_MS = 1_000;

/** What one instance of this process may spend of an account without asking. Ticks. */
export class Lease {
  /** Neither reserved by a call nor spent. Below zero when calls came to more than they had reserved. */
  free = 0;
  /** Calls may be let in from it at once. When not, all that comes free goes back to Postgres. */
  loose = false;
  /** Postgres still believes that it is loose. */
  returns = false;
  /** The last recall that was heard, and the last that was answered. */
  recall = 0;
  answered = 0;
  /** The last that it asked for itself. */
  ownRound = 0;
  /** What it would like to have free. */
  target = 0;
  wantsRefill = false;
  /** When a call was let in from it last. Milliseconds of a clock that only goes on. */
  usedAt = performance.now();
  private refilledAt = Number.NEGATIVE_INFINITY;
  private deniedAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly account: number,
    readonly orgId: string,
  ) {}

  /** There is something to send to Postgres. */
  get due(): boolean {
    return this.recall > this.answered || this.returns || (!this.loose && this.free !== 0);
  }

  /**
   * Says whether there is something to ask for now. @param want of a call. @param now milliseconds of a clock that only
   * goes on.
   */
  askRefill(want: number, now: number): boolean {
    if (this.wantsRefill || now - this.deniedAt < ASKS_AGAIN_MS) return false;
    this.target = Math.min(LARGEST_LEASE, Math.max(CALLS_OF_A_LEASE * want, this.target));
    this.wantsRefill = true;
    return true;
  }

  /** @param amount 0: there was not enough for that. */
  refilled(amount: number, now: number): void {
    this.wantsRefill = false;
    if (amount === 0) {
      this.deniedAt = now;
      this.target /= 2;
      return;
    }
    if (now - this.refilledAt < GROWS_WITHIN_MS) this.target = Math.min(LARGEST_LEASE, this.target * 2);
    this.refilledAt = now;
    this.free += amount;
    // Recalled meanwhile: it goes back in the next turn.
    this.loose = this.recall <= this.answered;
    this.returns = !this.loose;
  }

  /**
   * All that is free, and the recall that this answers (0: none): from now on Postgres has it. `null`: there is nothing
   * to send.
   */
  giveBack(): { a: number; n: number; s: number } | null {
    const answers = this.recall > this.answered ? this.recall : 0;
    const back =
      this.loose || this.returns || this.free !== 0 || answers > 0
        ? { a: this.account, n: this.free, s: answers }
        : null;
    this.free = 0;
    this.loose = false;
    this.returns = false;
    this.answered = Math.max(this.answered, answers);
    return back;
  }
}

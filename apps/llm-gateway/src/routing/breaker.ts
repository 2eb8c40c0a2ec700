/** Failures in a row that open it. */
const IN_A_ROW = 3;
/** Of the last this many calls … */
const WINDOW = 20;
/** … this many failures open it, even when others succeed between them. */
const IN_WINDOW = 10;
/** How long it stays open for the first time; doubled each time that the probe fails. Milliseconds. */
export const FIRST_OPEN_MS = 5_000;
export const LONGEST_OPEN_MS = 60_000;
/** A provider that says for how long it wants to be left alone is believed up to this. Milliseconds. */
export const LONGEST_COOL_DOWN_MS = 600_000;
/** After a rate limit without a word on how long. Milliseconds. */
export const COOL_DOWN_MS = 1_000;

export type BreakerState = 'closed' | 'open' | 'half-open';

/**
 * Keeps calls from a deployment that fails. Closed: every call. Open: none until its time has passed. Then half-open:
 * one call as a probe, whose success closes it and whose failure opens it again for twice as long. A rate limit opens
 * it for as long as the provider says, and says nothing of its health. Time is an argument, in milliseconds of one
 * clock that does not go back.
 */
export class Breaker {
  private inARow = 0;
  /** The last calls, a bit each, 1 for a failure. */
  private recent = 0;
  private opened = 0;
  private until = 0;
  private isOpen = false;
  private probing = false;
  /** The provider itself asked for the pause. */
  private asked = false;

  state(now: number): BreakerState {
    if (!this.isOpen) return 'closed';
    return now < this.until ? 'open' : 'half-open';
  }

  /** A call may be sent now. Changes nothing: `begins` does. */
  allows(now: number): boolean {
    return !this.isOpen || (now >= this.until && !this.probing);
  }

  /** Until then nothing is sent; 0 when it is not open. */
  get openUntil(): number {
    return this.isOpen ? this.until : 0;
  }

  /** It is open because the provider asked to be left alone. */
  get coolsDown(): boolean {
    return this.isOpen && this.asked;
  }

  /** A call is sent. Answers whether it is the probe: then its outcome, or its abandonment, must be reported. */
  begins(now: number): boolean {
    if (!this.isOpen || now < this.until || this.probing) return false;
    this.probing = true;
    return true;
  }

  /** @param probe what `begins` answered. A call that began before it opened says nothing of how it is now. */
  succeeded(probe: boolean): void {
    this.recent = (this.recent << 1) & MASK;
    this.inARow = 0;
    if (!probe) return;
    this.probing = false;
    this.isOpen = false;
    this.opened = 0;
    this.recent = 0;
  }

  failed(now: number, probe: boolean): void {
    this.recent = ((this.recent << 1) | 1) & MASK;
    this.inARow += 1;
    if (probe) this.probing = false;
    else if (this.isOpen || (this.inARow < IN_A_ROW && ones(this.recent) < IN_WINDOW)) return;
    this.opened += 1;
    this.open(now + Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** (this.opened - 1)), false);
  }

  /** @param retryAfterMs `null` when the provider did not say. */
  coolDown(now: number, retryAfterMs: number | null, probe: boolean): void {
    if (probe) this.probing = false;
    this.open(
      Math.max(
        this.isOpen ? this.until : 0,
        now + Math.min(LONGEST_COOL_DOWN_MS, Math.max(retryAfterMs ?? COOL_DOWN_MS, 1)),
      ),
      true,
    );
  }

  /**
   * The call ended without saying anything of the deployment: the caller went away, or its request was refused for what
   * it says.
   */
  givenUp(probe: boolean): void {
    if (probe) this.probing = false;
  }

  private open(until: number, asked: boolean): void {
    this.isOpen = true;
    this.until = until;
    this.asked = asked;
    this.inARow = 0;
    this.recent = 0;
  }
}

const MASK = 2 ** WINDOW - 1;

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

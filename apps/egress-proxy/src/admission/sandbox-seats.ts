import { SlipwayError } from '@slipway/errors';

/** How much of its allowance a sandbox that was quiet may use at once. Seconds of it. */
const BURST_SECONDS = 5;
/** Sandboxes remembered before those that have nothing open and have been quiet are forgotten. */
const MANY = 5_000;

interface Seat {
  open: number;
  allowance: number;
  at: number;
}

export interface SeatLimits {
  readonly connections: number;
  readonly perSecond: number;
}

/**
 * What each sandbox uses of this replica: connections at once, and beginnings a second. One that takes too much waits;
 * the others do not notice.
 */
export class SandboxSeats {
  private readonly seats = new Map<string, Seat>();

  constructor(
    private readonly limits: SeatLimits,
    /** Milliseconds, of a clock that only goes forward. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @returns what gives the connection back, once. @throws SlipwayError `egress.limit`. */
  take(claim: string): () => void {
    const now = this.now();
    const { connections, perSecond } = this.limits;
    const most = perSecond * BURST_SECONDS;
    const seat = this.seats.get(claim) ?? { open: 0, allowance: most, at: now };
    if (this.seats.size >= MANY && !this.seats.has(claim)) this.forget(now);
    this.seats.set(claim, seat);
    seat.allowance = Math.min(most, seat.allowance + ((now - seat.at) / 1000) * perSecond);
    seat.at = now;
    if (seat.open >= connections)
      throw tooMany(`The sandbox has ${connections} connections open, which is its limit.`, 5);
    if (seat.allowance < 1) throw tooMany(`The sandbox begins more than ${perSecond} connections a second.`, 1);
    seat.allowance -= 1;
    seat.open += 1;
    let held = true;
    return () => {
      if (held) seat.open -= 1;
      held = false;
    };
  }

  private forget(now: number): void {
    for (const [claim, { open, at }] of this.seats)
      if (open === 0 && now - at > BURST_SECONDS * 1000) this.seats.delete(claim);
  }
}

function tooMany(detail: string, retryAfterSeconds: number): SlipwayError {
  return new SlipwayError('egress.limit', detail, { retryAfterSeconds, extensions: { reason: 'limit' } });
}

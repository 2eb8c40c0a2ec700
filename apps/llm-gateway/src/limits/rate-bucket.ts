import type { KeyRate } from '../keys/keys.queries.js';

/**
 * What a replica takes at once beyond what it needs: this part of a minute's worth. So much of a limit may lie unused
 * at each replica.
 */
const LEASE_SHARE = 120;
/** After this what is left of a lease is given up: it has filled up again in Postgres by then. Milliseconds. */
const LEASE_MS = 5_000;

/**
 * A limit of calls or tokens a minute, as this replica knows it: what it holds, and how full the bucket was when it
 * last took from it.
 */
export class RateBucket {
  readonly lease: number;
  left = 0;
  /** Used beyond what was taken, or below zero taken beyond what was used: sent in the next turn. */
  debt = 0;
  usedAt = 0;
  private leftUntil = 0;
  private level: number;
  private levelAt = 0;

  constructor(
    readonly orgId: string,
    readonly name: string,
    /** A minute's worth. */
    readonly capacity: number,
  ) {
    this.level = capacity;
    // A limit of few calls has nothing to spare: each is asked for.
    this.lease = Math.floor(capacity / LEASE_SHARE);
  }

  has(need: number, now: number): boolean {
    if (now >= this.leftUntil) this.left = 0;
    return this.left >= need;
  }

  /**
   * @param taken from Postgres. @param level that is left there. @param now milliseconds of a clock that only goes on.
   */
  filled(taken: number, level: number, now: number): void {
    this.left += taken;
    this.level = level;
    this.levelAt = now;
    this.leftUntil = now + LEASE_MS;
  }

  /** A call used more or, below zero, less than was taken for it. */
  correct(amount: number): void {
    this.left -= amount;
    if (this.left < 0) {
      this.debt -= this.left;
      this.left = 0;
    }
    this.trim();
  }

  /** What is more than a lease goes back. */
  trim(): void {
    if (this.left <= this.lease) return;
    this.debt -= this.left - this.lease;
    this.left = this.lease;
  }

  /** As far as it is known here. */
  remaining(now: number): number {
    return Math.max(
      0,
      Math.min(this.capacity, this.level + ((now - this.levelAt) * this.capacity) / 60_000 + this.left - this.debt),
    );
  }

  /** Seconds until so much is there. */
  secondsUntil(amount: number, now: number): number {
    return Math.max(0, ((Math.min(amount, this.capacity) - this.remaining(now)) * 60) / this.capacity);
  }
}

export function bucketNames(rate: KeyRate): { requests: string; tokens: string } {
  return { requests: `${rate.kind} ${rate.subject} rpm`, tokens: `${rate.kind} ${rate.subject} tpm` };
}

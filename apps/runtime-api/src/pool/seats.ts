/**
 * How many sandboxes of all pools may start at the same time. Counts only; who asks is served in the order of asking.
 */
export class Seats {
  private taken = 0;

  constructor(private readonly most: number) {}

  get free(): number {
    return Math.max(0, this.most - this.taken);
  }

  /** Also when none is free: a slot that was begun is not given up. */
  take(): void {
    this.taken += 1;
  }

  give(): void {
    this.taken -= 1;
  }
}

const MINUTE_MS = 60_000;

/**
 * What a deployment may get from this replica in a minute: a bucket that holds a minute's worth and fills steadily.
 * `null`: no limit. It keeps calls from where they would be refused; what the provider allows is the provider's to say,
 * over all replicas.
 */
export class RateAllowance {
  private left: number;
  private filledAt = 0;

  constructor(private readonly perMinute: number | null) {
    this.left = perMinute ?? 0;
  }

  /**
   * @param amount calls or tokens. An amount that is above a whole minute's worth is allowed when the bucket is full.
   */
  allows(amount: number, now: number): boolean {
    if (this.perMinute === null) return true;
    this.fill(now);
    return this.left >= Math.min(amount, this.perMinute);
  }

  /** May take more than there is: the next one waits for longer then. */
  take(amount: number, now: number): void {
    if (this.perMinute === null) return;
    this.fill(now);
    this.left -= amount;
  }

  private fill(now: number): void {
    const perMinute = this.perMinute ?? 0;
    this.left = Math.min(perMinute, this.left + (Math.max(0, now - this.filledAt) * perMinute) / MINUTE_MS);
    this.filledAt = now;
  }
}

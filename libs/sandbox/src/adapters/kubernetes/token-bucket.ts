import type { Timing } from './timing.js';

export interface Budget {
  /** Requests a second in the long run. */
  readonly rate: number;
  /** Burst size after an idle time. */
  readonly burst: number;
  /** Connections open at once. */
  readonly connections: number;
}

/** How fast one kind of work may ask the API server. First come, first served. */
export class TokenBucket {
  /** When the bucket will be full again, without further calls. */
  private fullAt = 0;
  private readonly interval: number;

  constructor(
    private readonly budget: Pick<Budget, 'rate' | 'burst'>,
    private readonly timing: Timing,
  ) {
    this.interval = 1_000 / budget.rate;
  }

  /** Waits for a turn. A caller who gives up gives the turn back. @throws the signal's reason. */
  async take(signal: AbortSignal): Promise<void> {
    const now = this.timing.now();
    this.fullAt = Math.max(this.fullAt, now) + this.interval;
    const delay = this.fullAt - this.budget.burst * this.interval - now;
    if (delay <= 0) return;
    try {
      await this.timing.wait(delay, signal);
    } catch (error) {
      this.fullAt -= this.interval;
      throw error;
    }
  }

  /** No new turn before `milliseconds` have passed, as the server requested. */
  pause(milliseconds: number): void {
    this.fullAt = Math.max(this.fullAt, this.timing.now() + milliseconds + (this.budget.burst - 1) * this.interval);
  }
}

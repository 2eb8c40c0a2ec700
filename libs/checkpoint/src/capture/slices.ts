import { setImmediate as turn } from 'node:timers/promises';

/** Synchronous work at most, before others have a turn of the event loop. Milliseconds. */
const SLICE_MS = 4;

/** Calls of the system one after another: thousands of short ones take most of their time on the way to a thread. */
export class Slices {
  longest = 0;
  private began = performance.now();

  constructor(private readonly signal: AbortSignal) {}

  /** Begins anew, after something was waited for. */
  begin(): void {
    this.began = performance.now();
  }

  due(): boolean {
    return performance.now() - this.began > SLICE_MS;
  }

  /** @throws when the signal is aborted. */
  async turn(): Promise<void> {
    this.end();
    await turn();
    this.signal.throwIfAborted();
    this.began = performance.now();
  }

  end(): void {
    this.longest = Math.max(this.longest, performance.now() - this.began);
  }
}

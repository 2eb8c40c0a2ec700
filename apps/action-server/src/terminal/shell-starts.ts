import { setTimeout as wait } from 'node:timers/promises';

/** Shells that may be started as fast as they are asked for: more than there are terminals. */
const AT_ONCE = 12;
/** From then on one starts this much later than the one before. Milliseconds. */
const INTERVAL_MS = 500;

/**
 * When the next shell of the agent may start. A command that ends its shell costs the start of another; who does
 * nothing else is slowed down to two a second, so that the work of it is not felt by others on the same machine.
 * Whoever thinks before a command never waits.
 */
export class ShellStarts {
  /** When all that have started would have, at the slow pace. */
  #paidUntil = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly now: () => number = () => performance.now(),
    private readonly delay: (ms: number, signal: AbortSignal) => Promise<unknown> = (ms, signal) =>
      wait(ms, undefined, { signal }),
  ) {}

  /** Resolves when a shell may start. Rejects with the signal's reason. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = this.now();
    this.#paidUntil = Math.max(this.#paidUntil, now - AT_ONCE * INTERVAL_MS) + INTERVAL_MS;
    const ms = this.#paidUntil - now;
    if (ms <= 0) return;
    await this.delay(ms, signal).catch((error: unknown) => Promise.reject(signal.aborted ? signal.reason : error));
  }
}

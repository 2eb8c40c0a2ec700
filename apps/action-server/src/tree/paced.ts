/** Events of one change come in a bunch: this long after the first the work begins. Milliseconds. */
const SETTLE_MS = 10;
/** Work takes at most one part in so many of the time, however often it is asked for. */
const SHARE = 5;

/**
 * Work that follows what happens: soon after the first word, never twice at once, once more for what came meanwhile,
 * and never most of the time.
 */
export class Paced {
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #again = false;
  #restUntil = 0;
  #closed = false;

  /** @param work returns the minimum pause after it, in milliseconds; it does not throw. */
  constructor(private readonly work: () => Promise<number>) {}

  ask(): void {
    if (this.#closed || this.#timer !== undefined) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#timer = setTimeout(() => void this.#run(), Math.max(SETTLE_MS, this.#restUntil - performance.now()));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    this.#running = true;
    this.#again = false;
    const began = performance.now();
    const rest = await this.work();
    const ended = performance.now();
    this.#running = false;
    this.#restUntil = ended + Math.max(rest, (ended - began) * (SHARE - 1));
    if (this.#again) this.ask();
  }
}

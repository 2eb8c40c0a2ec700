/**
 * Slowest pace that a body is waited for. Bytes a second: with it the largest batch of an agent-server is here as its
 * own wait for the answer ends.
 */
const FLOOR = 512 * 1024;
/**
 * For the way of the first byte, and for bodies of a few bytes; and the longest that any body may take. Milliseconds.
 */
const [GRACE_MS, LONGEST_MS] = [2_000, 10_000];
const LOOK_EVERY_MS = 500;

interface Body {
  /** Milliseconds. */
  left: number;
  readonly late: () => void;
}

/**
 * Ends bodies that come slower than they may. A body holds memory that others wait for from its first byte on, so one
 * that dribbles would keep them out. Which way it fails: time in which this process stood still counts for little,
 * since unread bytes may have arrived.
 */
export class BodyDeadlines {
  private readonly bodies = new Set<Body>();
  private timer: NodeJS.Timeout | undefined;
  private looked: number;

  /** @param now milliseconds, of a clock that never goes back. */
  constructor(private readonly now: () => number) {
    this.looked = now();
  }

  /**
   * @param bytes of the whole body. @param late is called once, when it has taken too long. @returns what ends the
   * watch; repeatable.
   */
  watch(bytes: number, late: () => void): () => void {
    const body: Body = { left: Math.min(LONGEST_MS, GRACE_MS + (bytes / FLOOR) * 1_000), late };
    if (this.bodies.size === 0) this.looked = this.now();
    this.bodies.add(body);
    this.timer ??= setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    return () => this.forget(body);
  }

  /** Calls `late` of those that have taken too long. */
  look(): void {
    const now = this.now();
    const passed = Math.min(now - this.looked, 2 * LOOK_EVERY_MS);
    this.looked = now;
    for (const body of this.bodies) {
      body.left -= passed;
      if (body.left > 0) continue;
      this.forget(body);
      body.late();
    }
  }

  private forget(body: Body): void {
    this.bodies.delete(body);
    if (this.bodies.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

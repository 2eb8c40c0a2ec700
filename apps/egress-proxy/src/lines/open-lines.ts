import type { Line } from './line.js';

/** How often what is open is held against its limits. Milliseconds. */
const SWEEP_MS = 1_000;

export interface LineLimits {
  /** Both ways together. */
  readonly bytes: number;
  readonly ageMs: number;
}

/** The connections that are open, each within its limits. */
export class OpenLines {
  private readonly lines = new Set<Line>();
  private readonly timer: NodeJS.Timeout;
  private emptied: () => void = () => {};

  constructor(private readonly limits: LineLimits) {
    this.timer = setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  [Symbol.iterator](): IterableIterator<Line> {
    return this.lines.values();
  }

  get size(): number {
    return this.lines.size;
  }

  /** Until it has closed. */
  add(line: Line): void {
    this.lines.add(line);
    line.socket.once('close', () => {
      this.lines.delete(line);
      if (this.lines.size === 0) this.emptied();
    });
  }

  /** Waits until all have ended by themselves, for at most so long; then ends them. Milliseconds. */
  async settle(withinMs: number): Promise<void> {
    if (this.lines.size === 0) return;
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, withinMs);
      this.emptied = () => {
        clearTimeout(late);
        resolve();
      };
    });
    for (const line of this.lines) cutOff(line, 'stopping');
  }

  close(): void {
    clearInterval(this.timer);
    for (const line of this.lines) cutOff(line, 'stopping');
  }

  private sweep(): void {
    const now = performance.now();
    for (const line of this.lines) {
      if (line.socket.bytesRead + line.socket.bytesWritten > this.limits.bytes) cutOff(line, 'bytes');
      else if (now - line.since > this.limits.ageMs) cutOff(line, 'age');
    }
  }
}

/** Ends a connection from here. */
export function cutOff(line: Line, why: NonNullable<Line['cut']>): void {
  line.cut ??= why;
  // Without the reset the kernel goes on to send what it has taken: up to some megabytes.
  if (why === 'revoked' || why === 'undecided' || why === 'budget') line.socket.resetAndDestroy();
  else line.socket.destroy();
}

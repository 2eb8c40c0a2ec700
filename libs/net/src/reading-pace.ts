/** A reader that is behind takes at least `PACE_BYTES` within this time, or is sent away. Milliseconds. */
export const PACE_WINDOW_MS = 10_000;
/** 4 KiB a second: less than the slowest line that anybody works on, and far less than an agent writes. Bytes. */
export const PACE_BYTES = 40 * 1024;
/**
 * Whoever was sent away has this long to take what waits for it, with the word where to resume at its end; then the
 * connection is cut. Milliseconds.
 */
export const PACE_LEAVE_MS = 15_000;

/**
 * Whether a reader keeps up with its backlog. For a reader that is behind by more than it may be: one that has
 * everything is never too slow. Fails open: after half a window without a check (this process stood still), a new
 * window begins.
 */
export class ReadingPace {
  private from: number;
  private since: number;
  private looked: number;

  /**
   * @param taken bytes that the reader has taken so far, from any beginning. @param now milliseconds, of a clock that
   * never goes back.
   */
  constructor(taken: number, now: number) {
    this.from = taken;
    this.since = now;
    this.looked = now;
  }

  /** True when a whole window has gone by in which too little was taken. */
  tooSlow(taken: number, now: number): boolean {
    const unwatched = now - this.looked > PACE_WINDOW_MS / 2 + 1_000;
    this.looked = now;
    if (!unwatched && now - this.since < PACE_WINDOW_MS) return false;
    const slow = !unwatched && taken - this.from < PACE_BYTES;
    this.from = taken;
    this.since = now;
    return slow;
  }
}

/**
 * The parts of Node's TCP socket that say how far it has come. The handle's are not in its types: libuv's own counts,
 * which move while one large write is under way.
 */
export interface WritingSocket {
  readonly bytesWritten?: number;
  readonly writableLength?: number;
  readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } | null;
}

/**
 * Bytes that the operating system has taken of all that was written to a socket; without the handle's counts, those of
 * writes that are complete.
 */
export function takenBytes(socket: WritingSocket): number {
  const { bytesWritten, writeQueueSize } = socket._handle ?? {};
  if (bytesWritten !== undefined && writeQueueSize !== undefined) return bytesWritten - writeQueueSize;
  return (socket.bytesWritten ?? 0) - (socket.writableLength ?? 0);
}

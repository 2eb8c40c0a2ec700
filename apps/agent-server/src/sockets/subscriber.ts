import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { EventLog } from '../conversations/event-log.js';

/** With this much unsent a subscriber gets no more until it has read. Bytes. */
const MAX_BUFFERED = 1024 * 1024;
/** Frames that go out together make one write of at most about this size. Bytes. */
const WRITE_SIZE = 256 * 1024;
/** A subscriber that reads nothing of what waits for it in this time is closed, 1013. Milliseconds. */
const STALLED_MS = 30_000;

/**
 * One socket's way through a log: it has a position and is sent what follows, history and live alike, each event once and in order.
 * The log keeps what a slow reader has not had yet, so nothing piles up here.
 */
export class Subscriber {
  private waiting = false;
  private progressAt = performance.now();
  private readonly unsubscribe: () => void;

  /** @param stream the socket under `socket`: ready-made frames are written to it as they are. */
  constructor(
    readonly socket: WebSocket,
    private readonly stream: Duplex,
    private readonly log: EventLog,
    private next: number,
  ) {
    this.unsubscribe = log.subscribe(() => this.push());
    stream.on('drain', this.drained);
    this.push();
  }

  /** True when it has everything there is. */
  get caughtUp(): boolean {
    return this.next >= this.log.entries.length;
  }

  stalled(now: number): boolean {
    return !this.caughtUp && this.waiting && now - this.progressAt > STALLED_MS;
  }

  close(): void {
    this.unsubscribe();
    this.stream.off('drain', this.drained);
  }

  private readonly drained = (): void => {
    this.waiting = false;
    this.progressAt = performance.now();
    this.push();
  };

  private push(): void {
    while (!this.waiting && this.next < this.log.entries.length && this.socket.readyState === this.socket.OPEN) {
      const frames: Buffer[] = [];
      let size = 0;
      for (let entry = this.log.entries[this.next]; entry !== undefined && size < WRITE_SIZE; entry = this.log.entries[this.next]) {
        frames.push(entry.frame);
        size += entry.frame.length;
        this.next += 1;
      }
      // Whole frames only, so that the library's own (pong, close) may come between two writes.
      const flowing = this.stream.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames, size));
      if (flowing) this.progressAt = performance.now();
      this.waiting = !flowing && this.stream.writableLength > MAX_BUFFERED;
    }
  }
}

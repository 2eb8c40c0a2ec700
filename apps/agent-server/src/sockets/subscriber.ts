import type { Duplex } from 'node:stream';
import { ReadingPace, takenBytes } from '@slipway/net';
import type { WebSocket } from 'ws';
import type { EventLog } from '../log/event-log.js';

/**
 * At most this much is unsent, unless a single event is longer; then a subscriber gets no more until it has read.
 * Bytes.
 */
const MAX_BUFFERED = 1024 * 1024;
/** Frames that go out together make one write of at most about this size. Bytes. */
const WRITE_SIZE = 256 * 1024;

/**
 * One socket's way through a log: it has a position and is sent what follows, history and live alike, each event once
 * and in order. The log keeps what a slow reader has not had yet, so nothing piles up here.
 */
export class Subscriber {
  /** While as much is unsent as may be. */
  private waiting: ReadingPace | null = null;
  private readonly unsubscribe: () => void;
  private tells: Array<() => void> = [];

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

  /** Called once, when it has everything that is there now. */
  whenCaughtUp(tell: () => void): void {
    this.tells.push(tell);
    this.sendCaughtUp();
  }

  /** True when it has everything there is. */
  get caughtUp(): boolean {
    return this.next >= this.log.entries.length;
  }

  /** True when it is behind and has taken less than `ReadingPace` asks for. To be asked every few seconds. */
  tooSlow(now: number): boolean {
    return !this.caughtUp && this.waiting?.tooSlow(takenBytes(this.stream), now) === true;
  }

  close(): void {
    this.unsubscribe();
    this.stream.off('drain', this.drained);
  }

  private readonly drained = (): void => {
    this.waiting = null;
    this.push();
  };

  private push(): void {
    while (
      this.waiting === null &&
      this.next < this.log.entries.length &&
      this.socket.readyState === this.socket.OPEN
    ) {
      const frames: Buffer[] = [];
      let size = 0;
      for (
        let entry = this.log.entries[this.next];
        entry !== undefined && size < WRITE_SIZE;
        entry = this.log.entries[this.next]
      ) {
        frames.push(entry.shown);
        size += entry.shown.length;
        this.next += 1;
      }
      // Whole frames only, so that the library's own (pong, close) may come between two writes.
      const flowing = this.stream.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames, size));
      if (!flowing && this.stream.writableLength > MAX_BUFFERED - WRITE_SIZE)
        this.waiting = new ReadingPace(takenBytes(this.stream), performance.now());
    }
    this.sendCaughtUp();
  }

  private sendCaughtUp(): void {
    if (this.tells.length === 0 || !this.caughtUp) return;
    const { tells } = this;
    this.tells = [];
    for (const tell of tells) tell();
  }
}

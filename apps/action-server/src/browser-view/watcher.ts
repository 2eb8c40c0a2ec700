import { BROWSER_FRAMES_UNSEEN, type BrowserState } from '@slipway/contracts/live';
import type { LiveConnection } from '../http/live.js';
import type { PageErrors } from './page-errors.js';

/** With this much waiting for the connection nothing is added. Bytes; a few frames. */
const MAX_WAITING = 512 * 1024;

/** One frame as it is sent. */
export interface Frame {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** What there is to see now. */
export interface Seen {
  readonly frame: Frame | null;
  /** Another object after each change. */
  readonly state: BrowserState;
  /** Whether this connection's user has control. */
  readonly yours: boolean;
  readonly errors: PageErrors;
}

/**
 * One connection that views the browser: at most `BROWSER_FRAMES_UNSEEN` frames are on their way to it, frames painted
 * meanwhile are dropped, and it gets the newest when it can take one again. So a slow line costs frames, not memory,
 * and delays no other viewer.
 */
export class Watcher {
  private unseen: number[] = [];
  private newestFrame = 0;
  private newestError = 0;
  private lastSent: BrowserState | null = null;
  private sentYours = false;

  constructor(private readonly connection: LiveConnection) {}

  /** Whether it can take a frame. */
  get ready(): boolean {
    return this.unseen.length < BROWSER_FRAMES_UNSEEN && !this.behind;
  }

  /** Sends what is new to it, as far as it can take it. */
  update({ frame, state, yours, errors: known }: Seen): void {
    const { connection } = this;
    if (this.behind) return;
    if (state !== this.lastSent || yours !== this.sentYours) {
      connection.send({ ...state, yours } satisfies BrowserState);
      this.lastSent = state;
      this.sentYours = yours;
    }
    const errors = known.after(this.newestError);
    const last = errors.at(-1);
    if (last !== undefined) {
      connection.send({ type: 'errors', errors });
      this.newestError = last.number;
    }
    if (frame === null || frame.number <= this.newestFrame || !this.ready) return;
    this.newestFrame = frame.number;
    this.unseen.push(frame.number);
    connection.sendBytes(frame.bytes);
  }

  notice(text: string): void {
    if (!this.behind) this.connection.send({ type: 'notice', text });
  }

  /** This frame is on the user's screen, and so are those before it, or they never will be. */
  seen(frame: number): void {
    this.unseen = this.unseen.filter((number) => number > frame);
  }

  private get behind(): boolean {
    return this.connection.buffered > MAX_WAITING;
  }
}

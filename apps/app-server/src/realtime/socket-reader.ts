import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Socket } from 'socket.io';
import { eventFrames } from '../events/log-line.js';
import type { LogReader } from '../events/log-reader.js';
import { backlogOf, keepsUp, tooMuch } from './backlog.js';
import type { ConversationRoom } from './conversation-room.js';
import { EncodedJson } from './frame-encoder.js';

/** How often a socket that is behind is looked at. Milliseconds. */
const LOOK_MS = 10;
/** A socket that takes nothing for this long is told where to resume and closed. Milliseconds. */
const STALLED_MS = 30_000;
/** Wait after the log could not be read. Milliseconds. */
const RETRY_MS = 500;

/**
 * One socket's reading of one conversation. It pulls from the log at its own speed until it has reached the head, then is live in the room;
 * with too much unsent it leaves the room and pulls again. At most `SOCKET_MAX_BYTES` and a frame wait for it in this process.
 */
export class SocketReader {
  private mode: 'pulling' | 'live' | 'closed' = 'pulling';
  /** Last `seq` that was handed to the socket while pulling. */
  private sent: number;

  constructor(
    readonly socket: Socket,
    readonly room: ConversationRoom,
    private readonly reader: LogReader,
    private readonly failed: (error: unknown) => void,
  ) {
    this.sent = reader.cursor;
  }

  start(): void {
    this.room.add(this);
    void this.pull();
  }

  /** True when nobody is left in the room. */
  close(): boolean {
    this.mode = 'closed';
    return this.room.remove(this);
  }

  /** Last `seq` that this socket has, or will have when it has taken what is sent. */
  get position(): number {
    return this.mode === 'live' ? this.room.hub.head : this.sent;
  }

  /** After something was sent to the room. */
  watchBacklog(): void {
    if (this.mode !== 'live' || !tooMuch(backlogOf(this.socket))) return;
    this.mode = 'pulling';
    this.room.leaveLive(this);
    this.sent = this.room.hub.head;
    this.reader.cursor = this.sent;
    void this.pull();
  }

  private async pull(): Promise<void> {
    while (this.pulling) {
      if (!keepsUp(backlogOf(this.socket)) && !(await this.drained())) return this.resumeElsewhere();
      if (!this.pulling) return;
      if (this.reader.atHead) {
        this.mode = 'live';
        this.room.goLive(this);
        return;
      }
      await this.sendPage();
    }
  }

  private async sendPage(): Promise<void> {
    try {
      for (const frame of eventFrames(this.room.hub.conversationId, await this.reader.next())) {
        if (!this.pulling) return;
        this.socket.emit('events', new EncodedJson(frame.json));
        this.sent = frame.last;
        if (keepsUp(backlogOf(this.socket))) continue;
        await nextTurn();
        if (tooMuch(backlogOf(this.socket))) {
          // The rest of the page is not kept for a socket that does not take it: it is read again later.
          this.reader.cursor = this.sent;
          return;
        }
      }
    } catch (error) {
      this.failed(error);
      await wait(RETRY_MS);
    }
  }

  /** Resolves true when the socket has taken most of what waits for it, false when it has taken nothing for too long. */
  private async drained(): Promise<boolean> {
    await nextTurn();
    let least = backlogOf(this.socket);
    let since = performance.now();
    for (let now = least; this.pulling && !keepsUp(now); now = backlogOf(this.socket)) {
      if (now.bytes < least.bytes || now.frames < least.frames) {
        least = now;
        since = performance.now();
      } else if (performance.now() - since > STALLED_MS) return false;
      await wait(LOOK_MS);
    }
    return true;
  }

  private resumeElsewhere(): void {
    this.socket.emit('resume', { conversationId: this.room.hub.conversationId, code: 'slow-consumer', afterSeq: this.sent });
    this.socket.disconnect(true);
  }

  private get pulling(): boolean {
    return this.mode === 'pulling' && this.socket.connected;
  }
}

import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { ReadingPace } from '@slipway/net';
import type { Socket } from 'socket.io';
import { eventFrames } from '../events/log-line.js';
import type { LogReader } from '../events/log-reader.js';
import { backlogOf, keepsUp, takenOf, tooMuch } from './backlog.js';
import type { ConversationRoom, RoomMember } from './conversation-room.js';
import { EncodedJson } from './frame-encoder.js';

/** Shortest and longest check interval of a slow socket: less and less often while it takes nothing. Milliseconds. */
const LOOK_MS = 10;
const SELDOM_MS = 250;
/** Wait after the log could not be read. Milliseconds. */
const RETRY_MS = 500;

/** Why a socket's reading ends; each is called at most once. */
export interface ReaderEnds {
  /** It is behind and takes too little. */
  tooSlow(): void;
  /** The conversation has been deleted. */
  gone(): void;
}

/**
 * One socket's reading of one conversation. It pulls from the log at its own speed until it has reached the head, then
 * is live in the room; with too much unsent it leaves the room and pulls again. At most `SOCKET_MAX_BYTES` wait for it
 * in this process (and what a single event of more than `FRAME_LENGTH` has beyond that). One that is behind and takes
 * less than `ReadingPace` asks for is sent away.
 */
export class SocketReader implements RoomMember {
  private mode: 'pulling' | 'live' | 'closed' = 'pulling';
  /** Last `seq` that was handed to the socket while pulling. */
  private sent: number;

  constructor(
    readonly socket: Socket,
    readonly room: ConversationRoom,
    private readonly reader: LogReader,
    private readonly failed: (error: unknown) => void,
    private readonly ends: ReaderEnds,
  ) {
    this.sent = reader.cursor;
  }

  start(): void {
    this.room.add(this);
    void this.pull();
  }

  /** True when the room has no members. */
  close(): boolean {
    this.mode = 'closed';
    return this.room.remove(this);
  }

  /** Last `seq` that this socket has, or will have when it has taken what is sent. */
  get position(): number {
    return this.mode === 'live' ? this.room.hub.head : this.sent;
  }

  gone(): void {
    this.ends.gone();
  }

  watchBacklog(last: number): void {
    if (this.mode !== 'live' || !tooMuch(backlogOf(this.socket))) return;
    this.mode = 'pulling';
    this.room.leaveLive(this);
    this.sent = last;
    this.reader.cursor = last;
    void this.pull();
  }

  private async pull(): Promise<void> {
    while (this.pulling) {
      if (!keepsUp(backlogOf(this.socket)) && !(await this.drained())) return this.ends.tooSlow();
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
          // The remainder of the page is not kept for a socket that does not take it: it is read again later.
          this.reader.cursor = this.sent;
          return;
        }
      }
    } catch (error) {
      this.failed(error);
      await wait(RETRY_MS);
    }
  }

  /**
   * Resolves true when the socket has taken most of what waits for it, or is closed; false when it takes it too slowly.
   */
  private async drained(): Promise<boolean> {
    await nextTurn();
    let before = backlogOf(this.socket);
    /** While it is polling there is no wire to ask: what has left the buffer. */
    let left = 0;
    let look = LOOK_MS;
    const pace = new ReadingPace(takenOf(this.socket) ?? left, performance.now());
    for (let now = before; this.pulling && !keepsUp(now); now = backlogOf(this.socket)) {
      const progress = now.bytes < before.bytes || now.frames < before.frames;
      left += Math.max(0, before.bytes - now.bytes);
      look = progress ? LOOK_MS : Math.min(look * 2, SELDOM_MS);
      before = now;
      if (pace.tooSlow(takenOf(this.socket) ?? left, performance.now())) return false;
      await wait(look);
    }
    return true;
  }

  private get pulling(): boolean {
    return this.mode === 'pulling' && this.socket.connected;
  }
}

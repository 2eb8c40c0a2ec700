import type { QueuedMessage } from '@slipway/contracts/conversations';
import type { StreamingDelta } from '@slipway/contracts/events';
import type { Namespace, Socket } from 'socket.io';
import type { ConversationHub, HubListener } from '../events/conversation-hub.js';
import { eventFrames, type LogLine } from '../events/log-line.js';
import { backlogOf, keepsUp, tooMuch } from './backlog.js';
import { EncodedJson } from './frame-encoder.js';

/** One socket in a room. */
export interface RoomMember {
  readonly socket: Socket;
  /** After a frame was sent to the room. @param last the last `seq` of it. */
  watchBacklog(last: number): void;
  /** The conversation has been deleted. */
  gone(): void;
}

/**
 * All sockets of this process that read one conversation. A frame is written once, for every socket that is live; those
 * that read on their own (history, or too slow) are not in the room and get nothing from here but the inbox.
 */
export class ConversationRoom implements HubListener {
  readonly name: string;
  private readonly deltaName: string;
  private readonly live = new Set<RoomMember>();
  private readonly members = new Set<RoomMember>();
  /** Were too far behind for a list of messages; they get the newest one when they have caught up. */
  private readonly withoutInbox = new Set<RoomMember>();
  private readonly stop: () => void;
  private inboxRead: Promise<void> | undefined;
  private inboxStale = false;

  constructor(
    private readonly io: Namespace,
    readonly hub: ConversationHub,
    private readonly readInbox: () => Promise<QueuedMessage[]>,
    private readonly failed: (error: unknown) => void,
  ) {
    this.name = `log:${hub.conversationId}`;
    this.deltaName = `delta:${hub.conversationId}`;
    this.stop = hub.listen(this);
  }

  add(reader: RoomMember): void {
    this.members.add(reader);
  }

  /** In the tick in which the reader has reached the head. */
  goLive(reader: RoomMember): void {
    this.live.add(reader);
    void reader.socket.join(this.name);
    this.allowDeltas(reader);
    if (this.withoutInbox.delete(reader)) this.inbox();
  }

  leaveLive(reader: RoomMember): void {
    this.live.delete(reader);
    void reader.socket.leave(this.name);
    void reader.socket.leave(this.deltaName);
  }

  /** True when no member is left. */
  remove(reader: RoomMember): boolean {
    this.leaveLive(reader);
    this.members.delete(reader);
    this.withoutInbox.delete(reader);
    return this.members.size === 0;
  }

  close(): void {
    this.stop();
  }

  lines(lines: readonly LogLine[]): void {
    for (const { json, last } of eventFrames(this.hub.conversationId, lines)) {
      this.io.to(this.name).emit('events', new EncodedJson(json));
      // After each frame: one batch of the log can be more than may wait for a socket.
      for (const reader of this.live) reader.watchBacklog(last);
    }
  }

  delta(delta: StreamingDelta): void {
    if (this.live.size === 0) return;
    const late: RoomMember[] = [];
    for (const reader of this.live) {
      const keeping = keepsUp(backlogOf(reader.socket));
      const receiving = reader.socket.rooms.has(this.deltaName);
      if (receiving && !keeping) void reader.socket.leave(this.deltaName);
      // The whole text so far holds this piece already: the socket joins behind it.
      else if (!receiving && keeping) late.push(reader);
    }
    this.io.to(this.deltaName).emit('delta', new EncodedJson(this.frame(delta)));
    for (const reader of late) this.allowDeltas(reader);
  }

  gone(): void {
    for (const reader of [...this.members]) reader.gone();
  }

  inbox(): void {
    this.inboxStale = true;
    this.inboxRead ??= this.sendInbox().finally(() => {
      this.inboxRead = undefined;
      if (this.inboxStale && this.members.size > 0) this.inbox();
    });
  }

  /** A reader that is behind reads the review again with what it missed. */
  review(): void {
    for (const reader of this.members)
      if (!tooMuch(backlogOf(reader.socket))) reader.socket.emit('review', { conversationId: this.hub.conversationId });
  }

  private async sendInbox(): Promise<void> {
    this.inboxStale = false;
    try {
      const frame = new EncodedJson(
        JSON.stringify({ conversationId: this.hub.conversationId, messages: await this.readInbox() }),
      );
      for (const reader of this.members) {
        if (tooMuch(backlogOf(reader.socket))) this.withoutInbox.add(reader);
        else reader.socket.emit('inbox', frame);
      }
    } catch (error) {
      this.failed(error);
    }
  }

  private allowDeltas(reader: RoomMember): void {
    for (const delta of this.hub.partial.snapshot()) reader.socket.emit('delta', new EncodedJson(this.frame(delta)));
    void reader.socket.join(this.deltaName);
  }

  private frame(delta: StreamingDelta): string {
    return JSON.stringify({ conversationId: this.hub.conversationId, delta });
  }
}

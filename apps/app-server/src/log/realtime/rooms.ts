import { Inject, Injectable } from '@nestjs/common';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { Socket } from 'socket.io';
import { listQueued } from '../../conversations/inbox.queries.js';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import type { ConversationHub } from '../events/conversation-hub.js';
import { Hubs } from '../events/hubs.js';
import type { LogReader } from '../events/log-reader.js';
import { ConversationRoom } from './conversation-room.js';
import { type ReaderEnds, SocketReader } from './socket-reader.js';

/** The rooms of this process: one for each conversation that a socket reads, as long as it has members. */
@Injectable()
export class Rooms {
  private readonly rooms = new Map<string, ConversationRoom>();

  constructor(
    private readonly hubs: Hubs,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * A reader that is not started yet. It takes over the caller's hold of the hub; `leave` releases it.
   */
  join(socket: Socket, hub: ConversationHub, log: LogReader, ends: ReaderEnds): SocketReader {
    const failed = (error: unknown): void =>
      this.logger.warn(
        { err: error, conversation_id: hub.conversationId },
        'failed to read the log for a socket, will retry',
      );
    return new SocketReader(socket, this.roomOf(hub, socket), log, failed, ends);
  }

  leave(reader: SocketReader): void {
    const { room } = reader;
    const { hub } = room;
    if (reader.close()) {
      room.close();
      if (this.rooms.get(hub.conversationId) === room) this.rooms.delete(hub.conversationId);
    }
    this.hubs.release(hub);
  }

  private roomOf(hub: ConversationHub, { nsp }: Socket): ConversationRoom {
    const known = this.rooms.get(hub.conversationId);
    if (known?.hub === hub) return known;
    const room = new ConversationRoom(
      nsp,
      hub,
      () => listQueued(this.pool, hub.orgId, hub.conversationId),
      (error) => this.logger.warn({ err: error, conversation_id: hub.conversationId }, 'failed to read the inbox'),
    );
    this.rooms.set(hub.conversationId, room);
    return room;
  }
}

import { Injectable } from '@nestjs/common';
import type { GoneFrame, Subscribe, SubscribeAnswer } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import type { Socket } from 'socket.io';
import { AccessWatch, watchedCredential } from '../events/access-watch.js';
import { Hubs } from '../events/hubs.js';
import { LogReader } from '../events/log-reader.js';
import { StreamSeats } from '../events/stream-seats.js';
import type { Acknowledge, Sender } from './messages/socket-message.js';
import { Rooms } from './rooms.js';
import { SocketExit } from './socket-exit.js';
import { type Subscription, stateOf } from './subscription.js';

/** Conversations that one socket reads at once. */
const MAX_SUBSCRIPTIONS = 50;

/**
 * What each socket reads. A subscription ends with its socket, with the access of its sender, and by a newer one to the
 * same conversation.
 */
@Injectable()
export class Subscriptions {
  constructor(
    private readonly hubs: Hubs,
    private readonly rooms: Rooms,
    private readonly seats: StreamSeats,
    private readonly access: AccessWatch,
    private readonly exit: SocketExit,
  ) {}

  open(socket: Socket): void {
    stateOf(socket).subscriptions = new Map();
  }

  close(socket: Socket): void {
    for (const conversationId of [...(stateOf(socket).subscriptions?.keys() ?? [])]) this.end(socket, conversationId);
    delete stateOf(socket).subscriptions;
  }

  /**
   * @param acknowledge called before the first frame is sent; not called when the socket has disconnected meanwhile.
   * @throws SlipwayError `resource.not-found`, `request.invalid` for a cursor past the end, `rate.limited`,
   * `stream.limit`; then nothing is subscribed.
   */
  async subscribe(
    socket: Socket,
    asked: Subscribe,
    sender: Sender,
    acknowledge: Acknowledge<SubscribeAnswer>,
  ): Promise<void> {
    const mine = stateOf(socket).subscriptions;
    if (mine === undefined) return;
    const { orgId } = sender.principal;
    const conversationId = asked.conversationId.toLowerCase();
    // The newest subscription to a conversation is the one that counts, also while an older one is being opened.
    this.end(socket, conversationId);
    if (mine.size >= MAX_SUBSCRIPTIONS)
      throw new SlipwayError('rate.limited', `One connection reads at most ${MAX_SUBSCRIPTIONS} conversations.`);
    const subscription: Subscription = {
      reader: null,
      stopWatch: () => {},
      leaveSeat: this.seats.take({ org: orgId }),
    };
    mine.set(conversationId, subscription);
    try {
      const hub = await this.hubs.acquire(orgId, conversationId);
      try {
        const log = await LogReader.at(hub, asked.afterSeq);
        if (mine.get(conversationId) !== subscription || !socket.connected) {
          this.hubs.release(hub);
          return acknowledge({
            ok: false,
            code: 'request.invalid',
            detail: 'A newer subscription, or an end, came in between.',
          });
        }
        const reader = this.rooms.join(socket, hub, log, {
          tooSlow: () => this.exit.tooSlow(socket),
          gone: () => {
            this.end(socket, conversationId);
            socket.emit('gone', { conversationId } satisfies GoneFrame);
          },
        });
        subscription.reader = reader;
        subscription.stopWatch = this.access.watch(watchedCredential(sender.authenticated), orgId, () =>
          socket.disconnect(true),
        );
        acknowledge({ ok: true, head: hub.head });
        reader.start();
        reader.room.inbox();
      } catch (error) {
        if (subscription.reader === null) this.hubs.release(hub);
        throw error;
      }
    } catch (error) {
      subscription.leaveSeat();
      if (mine.get(conversationId) === subscription) mine.delete(conversationId);
      throw error;
    }
  }

  end(socket: Socket, conversationId: string): void {
    const mine = stateOf(socket).subscriptions;
    const subscription = mine?.get(conversationId);
    if (mine === undefined || subscription === undefined) return;
    mine.delete(conversationId);
    subscription.leaveSeat();
    subscription.stopWatch();
    if (subscription.reader !== null) this.rooms.leave(subscription.reader);
  }
}

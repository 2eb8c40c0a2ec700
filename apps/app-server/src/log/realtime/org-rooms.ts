import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { SubscribeOrgAnswer } from '@slipway/contracts/events';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Socket } from 'socket.io';
import { readDesk, readRecentHeads } from '../../conversations/desk/desk.queries.js';
import { readMarks } from '../../conversations/desk/read-marks.queries.js';
import { LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { AccessWatch, watchedCredential } from '../events/access-watch.js';
import { Hubs } from '../events/hubs.js';
import { StreamSeats } from '../events/stream-seats.js';
import type { Acknowledge, Sender } from './messages/socket-message.js';
import { OrgRoom } from './org-room.js';
import { stateOf } from './subscription.js';

/** Organizations that one socket shows at once. */
const MAX_ORGS = 5;
/** How often heads are compared with the database, so that a lost hint costs at most this. Milliseconds. */
const CHECK_MS = 3_000;
/** How far back one comparison looks. Seconds: some checks may fail in between. */
const CHECKED_SECONDS = 15;

/** The rooms of organizations in this process: one for each that a socket shows, as long as it has members. */
@Injectable()
export class OrgRooms implements OnModuleDestroy {
  private readonly rooms = new Map<string, OrgRoom>();
  /** Heads as last seen by the check, by organization. */
  private readonly heads = new Map<string, ReadonlyMap<string, number>>();
  private readonly stop: () => void;
  private readonly timer: NodeJS.Timeout;
  private isChecking = false;

  constructor(
    private readonly hubs: Hubs,
    private readonly seats: StreamSeats,
    private readonly access: AccessWatch,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.stop = this.hubs.listenToAll({
      changed: (orgId, conversationId) => this.rooms.get(orgId)?.changed(conversationId),
      marked: (orgId, conversationId, userId) => this.rooms.get(orgId)?.marked(userId, conversationId),
      missed: () => {
        for (const room of this.rooms.values()) room.missed();
      },
    });
    this.timer = setInterval(() => void this.check(), CHECK_MS);
    this.timer.unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.stop();
    for (const room of this.rooms.values()) room.close();
    this.rooms.clear();
  }

  /** Subscribing again changes nothing. @throws SlipwayError `rate.limited`, `stream.limit`. */
  subscribe(socket: Socket, sender: Sender, acknowledge: Acknowledge<SubscribeOrgAnswer>): void {
    const { subscriptions, orgs } = stateOf(socket);
    if (subscriptions === undefined || orgs === undefined || !socket.connected) return;
    const { orgId, actor } = sender.principal;
    if (!orgs.has(orgId)) {
      if (orgs.size >= MAX_ORGS)
        throw new SlipwayError('rate.limited', `One connection shows at most ${MAX_ORGS} organizations.`);
      const leaveSeat = this.seats.take({ org: orgId });
      const member = { socket, userId: actor.id };
      const room = this.roomOf(socket, orgId);
      room.add(member);
      const stopWatch = this.access.watch(watchedCredential(sender.authenticated), orgId, () =>
        socket.disconnect(true),
      );
      orgs.set(orgId, () => {
        stopWatch();
        leaveSeat();
        if (!room.remove(member)) return;
        room.close();
        if (this.rooms.get(orgId) === room) this.rooms.delete(orgId);
        this.heads.delete(orgId);
      });
    }
    acknowledge({ ok: true });
  }

  open(socket: Socket): void {
    stateOf(socket).orgs = new Map();
  }

  close(socket: Socket): void {
    for (const orgId of [...(stateOf(socket).orgs?.keys() ?? [])]) this.end(socket, orgId);
    delete stateOf(socket).orgs;
  }

  end(socket: Socket, orgId: string): void {
    const { orgs } = stateOf(socket);
    const leave = orgs?.get(orgId);
    orgs?.delete(orgId);
    leave?.();
  }

  private roomOf({ nsp }: Socket, orgId: string): OrgRoom {
    const known = this.rooms.get(orgId);
    if (known !== undefined) return known;
    const room = new OrgRoom(nsp, orgId, {
      read: (ids) => inOrg(this.pool, orgId, (client) => readDesk(client, orgId, { ids })),
      mark: async (userId, conversationId) =>
        (await inOrg(this.pool, orgId, (client) => readMarks(client, orgId, userId, [conversationId]))).get(
          conversationId,
        ) ?? null,
      failed: (error) => this.logger.warn({ err: error }, 'failed to read what changed in an organization'),
    });
    this.rooms.set(orgId, room);
    return room;
  }

  private async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    for (const [orgId, room] of this.rooms) {
      room.catchUp();
      try {
        const heads = await inOrg(this.pool, orgId, (client) => readRecentHeads(client, orgId, CHECKED_SECONDS));
        const before = this.heads.get(orgId);
        if (this.rooms.get(orgId) === room) this.heads.set(orgId, heads);
        for (const [id, head] of heads) if (before === undefined || before.get(id) !== head) room.changed(id);
      } catch (error) {
        this.logger.warn({ err: error }, 'check of an organization failed, will retry');
        room.missed();
      }
    }
    this.isChecking = false;
  }
}

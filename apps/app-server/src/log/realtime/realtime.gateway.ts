import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Authenticated, bearerOf, type PrincipalService } from '@slipway/auth';
import { Confirm, type ConfirmAnswer, type ResumeFrame, SOCKET_PING_MS, Subscribe, type SubscribeAnswer, Unsubscribe } from '@slipway/contracts/events';
import { type Principal } from '@slipway/contracts/organizations';
import type { SqlPool } from '@slipway/db/sql';
import { notFound, parseOrThrow, SlipwayError, storeUnavailable, toProblem } from '@slipway/errors';
import { PACE_LEAVE_MS } from '@slipway/net';
import type { Logger } from '@slipway/telemetry';
import { Counter, Gauge, type Registry } from '@slipway/telemetry/http';
import { Server, type Socket } from 'socket.io';
import { Decoder } from 'socket.io-parser';
import type { ConfirmationService } from '../../conversations/confirmation/confirmation.service.js';
import { listQueued } from '../../conversations/inbox.queries.js';
import { type AccessWatch, watchedCredential } from '../events/access-watch.js';
import type { Hubs } from '../events/hubs.js';
import { LogReader } from '../events/log-reader.js';
import type { StreamSeats } from '../events/stream-seats.js';
import { backlogOf, cutterOf } from './backlog.js';
import { ConversationRoom } from './conversation-room.js';
import { FrameEncoder } from './frame-encoder.js';
import { SocketReader } from './socket-reader.js';

/** Conversations that one socket reads at once. */
const MAX_SUBSCRIPTIONS = 50;
/** Subscriptions that one socket may ask for within `ASKING_MS`: each costs two queries. A client on a bad line asks a few times a second. */
const MAX_ASKED = 200;
/** Milliseconds. */
const ASKING_MS = 10_000;
/** Largest frame that a client may send. Bytes; ours are a few hundred. */
const MAX_CLIENT_FRAME_BYTES = 16 * 1024;
/** At the end of this process a slow socket is awaited no longer. Milliseconds. */
const LAST_MS = 2_000;
/** Parts of a drain: before the first socket is sent elsewhere, and from the first one to the last. */
const QUIET_PART = 0.5;
const NOTICE_PART = 0.25;

const TOO_OFTEN = { code: 'rate.limited', detail: `One connection asks at most ${MAX_ASKED} times in ${ASKING_MS / 1_000} seconds.` };
const NOT_AUTHENTICATED = 'You are not signed in, your session has ended, or the API key is not valid.';

interface Subscription {
  reader: SocketReader | null;
  stopWatch: () => void;
  leaveSeat: () => void;
}

/** socket.io: authenticates clients, lets them subscribe to what they may read, and ends both when that changes. */
export class RealtimeGateway {
  private readonly io: Server;
  private readonly rooms = new Map<string, ConversationRoom>();
  private readonly subscriptions = new WeakMap<Socket, Map<string, Subscription>>();
  private readonly slow: Counter;
  private draining = false;

  constructor(
    server: HttpServer,
    private readonly principals: PrincipalService,
    private readonly hubs: Hubs,
    private readonly access: AccessWatch,
    private readonly seats: StreamSeats,
    private readonly pool: SqlPool,
    private readonly logger: Logger,
    metrics: Registry,
    private readonly confirmations: ConfirmationService,
  ) {
    this.io = new Server(server, {
      path: '/socket.io',
      serveClient: false,
      pingInterval: SOCKET_PING_MS,
      maxHttpBufferSize: MAX_CLIENT_FRAME_BYTES,
      parser: { Encoder: FrameEncoder, Decoder },
      allowRequest: (request: IncomingMessage, answer) => answer(null, !this.draining && principals.mayOpenSocket(request.headers)),
    });
    this.io.use((socket, next) => {
      this.authenticate(socket)
        .then(
          (authenticated) => {
            if (authenticated === null) return next(connectError('auth.missing', NOT_AUTHENTICATED));
            const [gate] = principals.gatesOfCredential(authenticated);
            if (gate !== undefined) return next(connectError(`account.${gate}`, 'There is something to be done first; GET /api/v1/me says what.'));
            socket.conn.once('close', seats.take({ user: authenticated.kind === 'session' ? authenticated.person.userId : authenticated.key.owner.id }));
            // Also one that reads nothing ends with its session or key.
            const stopWatch = access.watchCredential(watchedCredential(authenticated), () => socket.disconnect(true));
            socket.conn.once('close', stopWatch);
            next();
          },
          (error: unknown) => {
            logger.warn({ err: error }, 'socket authentication failed');
            next(connectError('service.unavailable', 'Try again in a moment.'));
          },
        )
        .catch((error: unknown) => {
          const { code, detail } = this.refusal(error);
          next(connectError(code, detail));
        });
    });
    this.io.on('connection', (socket) => this.connected(socket));
    const { io } = this;
    this.slow = new Counter({
      name: 'realtime_slow_sockets_total',
      help: 'Sockets sent away because they read too slowly',
      registers: [metrics],
    });
    const unsent = (): number => this.unsentBytes();
    new Gauge({
      name: 'realtime_sockets',
      help: 'Connected sockets',
      registers: [metrics],
      collect() {
        this.set(io.engine.clientsCount);
      },
    });
    new Gauge({
      name: 'realtime_unsent_bytes',
      help: 'Bytes buffered for sockets that read slowly',
      registers: [metrics],
      collect() {
        this.set(unsent());
      },
    });
  }

  /** Bytes that wait in this process for sockets that do not take them. */
  unsentBytes(): number {
    let bytes = 0;
    for (const socket of this.io.sockets.sockets.values()) bytes += backlogOf(socket).bytes;
    return bytes;
  }

  /**
   * Sends the sockets elsewhere: for the first half of the time nothing changes, since a load balancer may still send
   * reconnecting clients to this replica; then each gets its resume point and is closed, spread over a quarter of it,
   * and no new one is taken. Milliseconds; 0: all at once.
   */
  async drain(overMs: number): Promise<void> {
    await wait(overMs * QUIET_PART);
    this.draining = true;
    const sockets = [...this.io.sockets.sockets.values()];
    const began = performance.now();
    for (const [index, socket] of sockets.entries()) {
      const due = began + (overMs * NOTICE_PART * index) / sockets.length;
      if (due > performance.now()) await wait(due - performance.now());
      this.sendAway(socket, 'draining');
    }
    // Who was being let in meanwhile.
    for (const socket of this.io.sockets.sockets.values()) this.sendAway(socket, 'draining');
    this.logger.info({ sockets: sockets.length }, 'sockets sent away to resume on another replica');
  }

  /** Notifies all remaining sockets, and ends every connection. */
  close(): void {
    for (const socket of this.io.sockets.sockets.values()) this.sendAway(socket, 'draining', LAST_MS);
    this.io.engine.close();
  }

  /**
   * The word where to resume is the last thing in what waits for the socket. One that does not take that within `leaveMs` is cut, and its client goes on from its own
   * cursor just the same.
   */
  private sendAway(socket: Socket, code: ResumeFrame['code'], leaveMs = PACE_LEAVE_MS): void {
    setTimeout(cutterOf(socket), leaveMs).unref();

    for (const [conversationId, { reader }] of this.subscriptions.get(socket) ?? [])
      if (reader !== null) socket.emit('resume', { conversationId, code, afterSeq: reader.position });
    socket.disconnect(true);
  }

  private tooSlow(socket: Socket): void {
    if (!socket.connected) return;
    this.slow.inc();
    this.logger.info({ unsent_bytes: backlogOf(socket).bytes }, 'slow socket sent away to resume');
    this.sendAway(socket, 'slow-consumer');
  }

  private connected(socket: Socket): void {
    this.subscriptions.set(socket, new Map());
    let asked = 0;
    let since = performance.now();
    const tooOften = (): boolean => {
      if (performance.now() - since > ASKING_MS) {
        asked = 0;
        since = performance.now();
      }
      asked += 1;
      return asked > MAX_ASKED;
    };
    socket.on('subscribe', (body: unknown, acknowledge: unknown) => {
      const answer = typeof acknowledge === 'function' ? (acknowledge as (value: SubscribeAnswer) => void) : () => {};
      if (tooOften()) return answer({ ok: false, ...TOO_OFTEN });
      this.subscribe(socket, body, answer).catch((error: unknown) => this.logger.error({ err: error }, 'failed to subscribe a socket'));
    });
    socket.on('confirm', (body: unknown, acknowledge: unknown) => {
      const answer = typeof acknowledge === 'function' ? (acknowledge as (value: ConfirmAnswer) => void) : () => {};
      if (tooOften()) return answer({ ok: false, ...TOO_OFTEN });
      this.confirm(socket, body).then(answer, (error: unknown) => this.logger.error({ err: error }, 'failed to handle a confirmation from a socket'));
    });
    socket.on('unsubscribe', (body: unknown) => {
      const parsed = Unsubscribe.safeParse(body);
      if (parsed.success) this.end(socket, parsed.data.conversationId.toLowerCase());
    });
    socket.on('disconnect', () => {
      for (const conversationId of [...(this.subscriptions.get(socket)?.keys() ?? [])]) this.end(socket, conversationId);
      this.subscriptions.delete(socket);
    });
    socket.on('error', (error) => this.logger.debug({ err: error }, 'socket error'));
  }

  private async subscribe(socket: Socket, body: unknown, answer: (value: SubscribeAnswer) => void): Promise<void> {
    let conversationId: string | undefined;
    const subscription: Subscription = { reader: null, stopWatch: () => {}, leaveSeat: () => {} };
    try {
      const asked = parseOrThrow(Subscribe, body);
      conversationId = asked.conversationId.toLowerCase();
      const authenticated = await this.authenticate(socket);
      if (authenticated === null) throw new SlipwayError('auth.missing', NOT_AUTHENTICATED);
      this.principals.assertGatesPassed(authenticated);
      const { orgId } = await this.principalIn(authenticated, asked.orgId);
      const mine = this.subscriptions.get(socket);
      if (mine === undefined) return;
      // The newest subscription to a conversation is the one that counts, also while an older one is being opened.
      this.end(socket, conversationId);
      if (mine.size >= MAX_SUBSCRIPTIONS) throw new SlipwayError('rate.limited', `One connection reads at most ${MAX_SUBSCRIPTIONS} conversations.`);
      subscription.leaveSeat = this.seats.take({ org: orgId });
      mine.set(conversationId, subscription);
      const hub = await this.hubs.acquire(orgId, conversationId);
      try {
        const reader = await LogReader.at(hub, asked.afterSeq);
        if (mine.get(conversationId) !== subscription || !socket.connected) {
          this.hubs.release(hub);
          return answer({ ok: false, code: 'request.invalid', detail: 'A newer subscription, or an end, came in between.' });
        }
        const room = this.roomOf(hub);
        subscription.reader = new SocketReader(
          socket,
          room,
          reader,
          (error) => this.logger.warn({ err: error, conversation_id: hub.conversationId }, 'failed to read the log for a socket, will retry'),
          () => this.tooSlow(socket),
        );
        subscription.stopWatch = this.access.watch(watchedCredential(authenticated), orgId, () => socket.disconnect(true));
        answer({ ok: true, head: hub.head });
        subscription.reader.start();
        room.inbox();
      } catch (error) {
        if (subscription.reader === null) this.hubs.release(hub);
        throw error;
      }
    } catch (error) {
      const mine = this.subscriptions.get(socket);
      subscription.leaveSeat();
      if (conversationId !== undefined && mine?.get(conversationId) === subscription) mine.delete(conversationId);
      answer(this.refusal(error));
    }
  }

  /** A user's answer to pending actions; the same rules as for a request. */
  private async confirm(socket: Socket, body: unknown): Promise<ConfirmAnswer> {
    try {
      const { orgId, conversationId, ...word } = parseOrThrow(Confirm, body);
      const authenticated = await this.authenticate(socket);
      if (authenticated === null) throw new SlipwayError('auth.missing', NOT_AUTHENTICATED);
      this.principals.assertGatesPassed(authenticated);
      const principal = await this.principalIn(authenticated, orgId);
      if (!principal.permissions.has('conversation:write')) throw new SlipwayError('permission.denied', 'This needs the permission conversation:write.');
      await this.confirmations.answer(principal, conversationId.toLowerCase(), word);
      return { ok: true };
    } catch (error) {
      return this.refusal(error);
    }
  }

  private refusal(error: unknown): { ok: false; code: string; detail: string } {
    const problem = toProblem(storeUnavailable(error) ?? error, { docsUrl: '' });
    if (problem.status >= 500) this.logger.error({ err: problem.error, cause: problem.error.more.cause }, 'failed to handle a request of a socket');
    return { ok: false, code: problem.body.code, detail: problem.body.detail };
  }

  /** By the API key of the handshake, as `auth: {token}` or in `Authorization`, or else by the cookie: as a request is authenticated. */
  private authenticate({ handshake: { auth, headers } }: Socket): Promise<Authenticated | null> {
    const { token } = auth as { token?: unknown };
    const { cookie, authorization } = headers;
    if (token === undefined || token === null) return this.principals.authenticate({ cookie, authorization });
    return this.principals.authenticate({ authorization: `Bearer ${typeof token === 'string' ? (bearerOf(token) ?? token) : ''}` });
  }

  /** Who it is in an organization whose conversations they may read; any other is not there. */
  private async principalIn(authenticated: Authenticated, org: string): Promise<Principal> {
    const principal = this.principals.principalOf(await this.principals.upToDate(authenticated, org), org);
    if (!principal.permissions.has('conversation:read')) throw notFound();
    return principal;
  }

  /** The room of a hub, as long as it has members. Each member holds the hub once. */
  private roomOf(hub: ConversationRoom['hub']): ConversationRoom {
    const known = this.rooms.get(hub.conversationId);
    if (known?.hub === hub) return known;
    const room = new ConversationRoom(
      this.io,
      hub,
      () => listQueued(this.pool, hub.orgId, hub.conversationId),
      (error) => this.logger.warn({ err: error, conversation_id: hub.conversationId }, 'failed to read the inbox'),
    );
    this.rooms.set(hub.conversationId, room);
    return room;
  }

  private end(socket: Socket, conversationId: string): void {
    const mine = this.subscriptions.get(socket);
    const subscription = mine?.get(conversationId);
    if (mine === undefined || subscription === undefined) return;
    mine.delete(conversationId);
    subscription.leaveSeat();
    subscription.stopWatch();
    if (subscription.reader === null) return;
    const { room } = subscription.reader;
    if (subscription.reader.close()) {
      room.close();
      if (this.rooms.get(conversationId) === room) this.rooms.delete(conversationId);
    }
    this.hubs.release(room.hub);
  }
}

function connectError(code: string, detail: string): Error {
  return Object.assign(new Error(code), { data: { code, detail } });
}

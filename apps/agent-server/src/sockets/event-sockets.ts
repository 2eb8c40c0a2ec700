import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { SendEventRequest } from '@slipway/contracts/agent';
import { ConfirmationFrame } from '@slipway/contracts/conversations';
import { type StreamingDelta } from '@slipway/contracts/events';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { PACE_LEAVE_MS } from '@slipway/net';
import { type Logger, runInContext, traceIdOf } from '@slipway/telemetry';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { Activation } from '../activation/activation.js';
import type { Conversation } from '../conversations/conversation.js';
import type { Conversations } from '../conversations/conversations.js';
import { MAX_BODY_BYTES } from '../http/router.js';
import { withAnswerer, withAuthor } from '../log/authors.js';
import { firstSince, utcTime } from '../log/event-search.js';
import type { BashEvents } from '../sandbox/bash-events.js';
import { followBash } from './bash-sockets.js';
import type { LiveSockets } from './live-sockets.js';
import { Subscriber } from './subscriber.js';

/** A client says who it is within this time. Milliseconds. */
const AUTH_MS = 10_000;
/** Frames that a client may send before its subscription stands. */
const MAX_EARLY_FRAMES = 100;
const MAX_SUBSCRIBERS = 1_000;
const LOOK_FOR_SLOW_MS = 2_000;
const PING_MS = 30_000;
/** With this much unsent a socket gets no more pieces of text; the event itself comes all the same. Bytes. */
const MAX_BUFFERED_FOR_DELTAS = 64 * 1024;

const CLOSE = { auth: 4001, unknown: 4004, busy: 1013, away: 1001, restarted: 1012 } as const;
const PATH = /^\/sockets\/(?:events\/(?<id>[^/?]+)|bash-events|live\/(?<channel>[a-z][a-z0-9-]{0,39}))\/?$/;

/** What a path asks for: a conversation's log, a live channel, or with neither the commands. */
interface Target {
  readonly id?: string | undefined;
  readonly channel?: string | undefined;
}

/** Who has opened a socket. `stream` is what it is sent over. */
interface Client {
  readonly socket: WebSocket;
  readonly stream: Duplex;
  readonly request: IncomingMessage;
  readonly query: URLSearchParams;
}

/**
 * `/sockets/events/{id}`: the log of a conversation, from where the client wants it and then live. What the client
 * sends are messages that start a run, and answers to what waits (`ConfirmationFrame`).
 */
export class EventSockets {
  private server: Promise<WebSocketServer> | undefined;
  private readonly subscribers = new Map<string, Set<Subscriber>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly conversations: Conversations,
    private readonly bash: BashEvents,
    private readonly live: LiveSockets,
    private readonly activation: Activation,
    private readonly logger: Logger,
  ) {}

  listenOn(http: Server): void {
    http.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      stream.on('error', () => stream.destroy());
      this.upgrade(request, stream, head).catch((error: unknown) => {
        this.logger.error({ err: error }, 'failed to open a socket');
        stream.destroy();
      });
    });
  }

  close(): void {
    clearInterval(this.timer);
    this.live.close();
    for (const set of this.subscribers.values())
      for (const { socket } of set) socket.close(CLOSE.away, 'the sandbox is stopping');
  }

  private async upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const url = request.url ?? '/';
    const cut = url.indexOf('?');
    const found = PATH.exec(cut === -1 ? url : url.slice(0, cut));
    if (found === null) return refuse(stream, '404 Not Found');
    if (this.activation.state().state !== 'ready') return refuse(stream, '503 Service Unavailable');
    this.server ??= import('ws').then(
      ({ WebSocketServer }) =>
        new WebSocketServer({
          noServer: true,
          perMessageDeflate: false,
          maxPayload: MAX_BODY_BYTES,
          clientTracking: false,
        }),
    );
    const server = await this.server;
    const query = new URLSearchParams(cut === -1 ? '' : url.slice(cut + 1));
    server.handleUpgrade(
      request,
      stream,
      head,
      (socket) => void this.accept({ socket, stream, request, query }, found.groups ?? {}),
    );
  }

  private async accept(client: Client, { id, channel }: Target): Promise<void> {
    const { socket, request, query } = client;
    socket.on('error', () => socket.terminate());
    // A client need not wait for its first answer: what it says until then is taken in after it.
    const early: Array<readonly [RawData, boolean]> = [];
    const keep = (data: RawData, isBinary: boolean): void => {
      if (early.length >= MAX_EARLY_FRAMES) socket.terminate();
      else early.push([data, isBinary]);
    };
    const take = (): typeof early => {
      socket.off('message', keep);
      return early;
    };
    socket.on('message', keep);
    try {
      const proof = await this.authenticate(socket, request, query);
      if (proof === null) return;
      if (proof === 'frame') early.shift();
      if (channel !== undefined) return await this.live.join(socket, channel, query, take);
      // Without a conversation it is about commands.
      if (id === undefined) return followBash(socket, this.bash, query);
      const conversation = await this.conversations.get(id);
      if (socket.readyState !== socket.OPEN) return;
      const count = this.subscribers.get(conversation.id)?.size ?? 0;
      if (count >= MAX_SUBSCRIBERS) return socket.close(CLOSE.busy, 'too many subscribers');
      const receive = this.subscribe(client, conversation);
      for (const [data, isBinary] of take()) receive(data, isBinary);
    } catch (error) {
      if (error instanceof SlipwayError && error.code === 'resource.not-found')
        return socket.close(CLOSE.unknown, 'there is no such conversation');
      if (error instanceof SlipwayError) return socket.close(1008, error.detail.slice(0, 120));
      this.logger.error({ err: error }, 'socket failed');
      socket.close(1011, 'something broke on our side');
    } finally {
      take();
    }
  }

  /**
   * Authenticates the caller before anything is revealed: by the request or the first frame; `null` without a valid
   * credential, after an answer that says so.
   */
  private async authenticate(
    socket: WebSocket,
    request: IncomingMessage,
    query: URLSearchParams,
  ): Promise<'request' | 'frame' | null> {
    const given =
      headerOf(request, 'x-session-api-key') ??
      /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ??
      query.get('session_api_key');
    const key = given ?? (await firstFrameKey(socket));
    if (key !== null && this.activation.accepts(key))
      return given === null || given === undefined ? 'frame' : 'request';
    socket.close(CLOSE.auth, 'the session key is missing or wrong');
    return null;
  }

  private subscribe(
    { socket, stream, request, query }: Client,
    conversation: Conversation,
  ): (data: RawData, isBinary: boolean) => void {
    const { log } = conversation;
    const traceId = traceIdOf(headerOf(request, 'traceparent'));
    const from = startOf(conversation, query);
    // The first frame confirms the subscription; every event after it comes, from `from` on.
    sendState(socket, conversation);
    const subscriber = new Subscriber(socket, stream, log, from);
    const set = this.subscribers.get(conversation.id) ?? new Set();
    set.add(subscriber);
    this.subscribers.set(conversation.id, set);
    this.timer ??= setInterval(() => this.closeSlow(), LOOK_FOR_SLOW_MS).unref();
    const stopDeltas = conversation.deltas.listen((delta) => sendDelta(subscriber, delta));
    // Reports to OpenHands' clients that a run is over: their `run` waits for it. After the run's last event.
    const stopResting = conversation.rests.listen(() => subscriber.whenCaughtUp(() => sendState(socket, conversation)));
    const stopClosing = conversation.closes.listen((why) => {
      // A client comes back after the second, and not after the first.
      if (why === 'gone') socket.close(CLOSE.unknown, 'the conversation was closed');
      else socket.close(CLOSE.restarted, 'the conversation was started again; connect again');
      subscriber.close();
    });
    const ping = setInterval(() => socket.ping(), PING_MS).unref();
    const receive = (data: RawData, isBinary: boolean): void => {
      if (!isBinary)
        runInContext(
          { traceId, conversationId: conversation.id },
          () => void this.receive(socket, conversation, request, data),
        );
    };
    socket.on('message', receive);
    socket.once('close', () => {
      clearInterval(ping);
      stopDeltas();
      stopResting();
      stopClosing();
      subscriber.close();
      set.delete(subscriber);
    });
    return receive;
  }

  private async receive(
    socket: WebSocket,
    conversation: Conversation,
    request: IncomingMessage,
    data: RawData,
  ): Promise<void> {
    const caller = this.activation.callerOf(request);
    try {
      const frame = parseFrame(data);
      const type = (frame as { type?: unknown } | null)?.type;
      if (type === 'auth') return;
      if (type === 'confirmation') {
        this.conversations.orgConfirmation.assertMayAnswer(caller);
        await conversation.respond(withAnswerer(caller, parseOrThrow(ConfirmationFrame, frame)));
        return;
      }
      this.conversations.orgConfirmation.assertKnown(caller);
      await conversation.send(withAuthor(caller, parseOrThrow(SendEventRequest, { ...(frame as object), run: true })));
    } catch (error) {
      const known =
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'The message could not be taken in.', { cause: error });
      if (known !== error) this.logger.error({ err: error }, 'failed to handle a message from a socket');
      // Who sends much and reads nothing is not answered.
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < MAX_BUFFERED_FOR_DELTAS)
        socket.send(
          JSON.stringify({
            id: randomUUID(),
            timestamp: new Date().toISOString(),
            source: 'environment',
            kind: 'ConversationErrorEvent',
            code: known.code,
            detail: known.detail,
          }),
        );
    }
  }

  /**
   * The close frame is the last thing in what waits for them. Who does not take that in time is cut: the client goes on
   * from its own cursor just the same.
   */
  private closeSlow(): void {
    const now = performance.now();
    for (const set of this.subscribers.values()) {
      for (const subscriber of set) {
        const { socket } = subscriber;
        if (socket.readyState !== socket.OPEN || !subscriber.tooSlow(now)) continue;
        this.logger.info({ unsent_bytes: socket.bufferedAmount }, 'slow subscriber disconnected, it may connect again');
        subscriber.close();
        socket.close(CLOSE.busy, 'the client reads too slowly; connect again');
        setTimeout(() => socket.terminate(), PACE_LEAVE_MS).unref();
      }
    }
  }
}

/** `resend_mode=all` is everything, `since` from a time on, nothing only what is new. */
function startOf(conversation: Conversation, query: URLSearchParams): number {
  const { log } = conversation;
  const mode = query.get('resend_mode') ?? (query.get('resend_all') === 'true' ? 'all' : null);
  const after = query.get('after_timestamp');
  if (mode === 'all') return 0;
  if (mode === 'since') return after === null ? 0 : firstSince(log, utcTime(after, 'after_timestamp'));
  return log.entries.length;
}

/**
 * The key of `{"type":"auth","session_api_key":…}`, or `null` when the first frame is something else or does not come.
 */
function firstFrameKey(socket: WebSocket): Promise<string | null> {
  return new Promise((resolve) => {
    const end = (key: string | null): void => {
      clearTimeout(timer);
      socket.off('message', read);
      socket.off('close', gone);
      resolve(key);
    };
    const gone = (): void => end(null);
    const read = (data: RawData): void => {
      end(keyOf(data));
    };
    const timer = setTimeout(() => end(null), AUTH_MS);
    socket.on('message', read);
    socket.on('close', gone);
  });
}

/** Not JSON is not a credential either. */
function keyOf(data: RawData): string | null {
  try {
    const frame = parseFrame(data) as { type?: unknown; session_api_key?: unknown } | null;
    return frame?.type === 'auth' && typeof frame.session_api_key === 'string' ? frame.session_api_key : null;
  } catch {
    return null;
  }
}

function parseFrame(data: RawData): unknown {
  const text = Array.isArray(data)
    ? Buffer.concat(data).toString('utf8')
    : Buffer.from(data as Buffer).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SlipwayError('request.not-json', 'The frame could not be read as JSON.', { cause: error });
  }
}

function sendState(socket: WebSocket, conversation: Conversation): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(
    JSON.stringify({
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      source: 'environment',
      kind: 'ConversationStateUpdateEvent',
      key: 'full_state',
      value: conversation.info(),
    }),
  );
}

/** Pieces of text go only to who has every event before them, and reads. OpenHands has none of a tool's. */
function sendDelta(subscriber: Subscriber, delta: StreamingDelta): void {
  const { socket } = subscriber;
  if (
    delta.channel === 'progress' ||
    !subscriber.caughtUp ||
    socket.bufferedAmount > MAX_BUFFERED_FOR_DELTAS ||
    socket.readyState !== socket.OPEN
  )
    return;
  socket.send(
    JSON.stringify({
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      source: 'agent',
      kind: 'StreamingDeltaEvent',
      ...(delta.channel === 'content' ? { content: delta.text } : { reasoning_content: delta.text }),
    }),
  );
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function refuse(stream: Duplex, status: string): void {
  stream.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

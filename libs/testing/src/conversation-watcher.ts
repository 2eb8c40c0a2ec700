import { type QueuedMessage } from '@slipway/contracts/conversations';
import {
  ConversationEvent,
  type DeltaFrame,
  type EventsFrame,
  type InboxFrame,
  type LoggedEvent,
  type SubscribeAnswer,
} from '@slipway/contracts/events';
import { io, type Socket } from 'socket.io-client';
import { type Lasted, lasting } from './stopwatch.js';
import { until } from './until.js';

/**
 * A client of the log as every client should be: holds the cursor, applies `last + 1` only, asks again on a gap and
 * after each reconnect. `log` is therefore always a prefix of the server's.
 */
export class ConversationWatcher {
  readonly log: LoggedEvent[] = [];
  /** When each line arrived, by performance.now(). */
  readonly arrivals: number[] = [];
  readonly deltas: DeltaFrame[] = [];
  inbox: readonly QueuedMessage[] = [];
  /** Times that a hole was seen and healed by asking again. */
  gaps = 0;
  reconnects = -1;
  /**
   * Each time without a subscription, from the connection's end (or the word to resume elsewhere) to the server's yes.
   */
  readonly outages: Lasted[] = [];
  private out: (() => Lasted) | null = null;
  private readonly socket: Socket;

  constructor(
    url: string,
    cookie: string,
    private readonly target: { orgId: string; conversationId: string },
  ) {
    this.socket = io(url, {
      path: '/socket.io',
      transports: ['websocket'],
      extraHeaders: { cookie, origin: url },
      reconnectionDelay: 50,
      reconnectionDelayMax: 500,
      forceNew: true,
    });
    this.socket.on('connect', () => {
      this.reconnects += 1;
      this.subscribe();
    });
    this.socket.on('events', (frame: EventsFrame) => this.apply(frame));
    this.socket.on('delta', (frame: DeltaFrame) => void this.deltas.push(frame));
    this.socket.on('inbox', (frame: InboxFrame) => {
      this.inbox = frame.messages;
    });
    this.socket.on('resume', () => {
      this.out ??= lasting();
      this.socket.connect();
    });
    this.socket.on('disconnect', (reason) => {
      this.out ??= lasting();
      if (reason === 'io server disconnect') this.socket.connect();
    });
  }

  get lastSeq(): number {
    return this.log.at(-1)?.seq ?? 0;
  }

  private subscribe(): void {
    this.socket
      .timeout(5_000)
      .emit(
        'subscribe',
        { ...this.target, afterSeq: this.lastSeq },
        (error: Error | null, answer: SubscribeAnswer | undefined) => {
          if (error !== null) this.subscribe();
          else if (answer?.ok === false) this.failure = `${answer.code}: ${answer.detail}`;
          else if (this.out !== null) {
            this.outages.push(this.out());
            this.out = null;
          }
        },
      );
  }

  failure: string | undefined;

  private apply(frame: EventsFrame): void {
    for (const line of frame.events) {
      if (line.seq <= this.lastSeq) continue;
      if (line.seq !== this.lastSeq + 1) {
        this.gaps += 1;
        this.subscribe();
        return;
      }
      ConversationEvent.parse(line.event);
      this.log.push(line);
      this.arrivals.push(performance.now());
    }
  }

  /** The first line that fits, waiting for it. */
  async waitFor(what: string, fits: (line: LoggedEvent) => boolean, timeoutMs = 30_000): Promise<LoggedEvent> {
    return until(
      what,
      () => {
        if (this.failure !== undefined) throw new Error(this.failure);
        return this.log.find(fits);
      },
      timeoutMs,
    );
  }

  /** Waits until the last `execution_status` of the log is this one. */
  async waitForExecution(status: string, timeoutMs = 30_000): Promise<void> {
    await until(`execution_status ${status}`, () => this.executionStatus() === status, timeoutMs);
  }

  executionStatus(): unknown {
    const line = this.log.findLast(
      ({ event }) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status',
    );
    return line?.event.kind === 'ConversationStateUpdateEvent' ? line.event.value : undefined;
  }

  /** Cuts the connection as a broken network would; it comes back by itself. */
  drop(): void {
    // Closed while it connects, the client would wait for its own 20 s.
    if (this.socket.connected) this.socket.io.engine.close();
  }

  close(): void {
    this.socket.disconnect();
  }
}

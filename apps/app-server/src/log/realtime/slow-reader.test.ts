import type { Socket as NetSocket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type EventsFrame, type ResumeFrame, SOCKET_MAX_BYTES, type SubscribeAnswer } from '@slipway/contracts/events';
import { PACE_LEAVE_MS, PACE_WINDOW_MS } from '@slipway/net';
import { ConversationWatcher, until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, thought, type User } from '../../testing/conversation-app.js';

/** More than the kernel takes for a reader that does not read, twice over. */
const LINES = 1_500;
const LINE_BYTES = 8_000;

jest.setTimeout(400_000);

describe('readers that are too slow', () => {
  let app: ConversationApp;
  let user: User;
  let id: string;
  const open: Reader[] = [];

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
    id = (await app.conversation(user)).id;
    await app.started(id);
  });
  afterAll(async () => {
    for (const reader of open) reader.close();
    await app?.close();
  });

  const reader = async (): Promise<Reader> => {
    const made = new Reader(app.url, user, id);
    open.push(made);
    await made.subscribed();
    return made;
  };
  const slowOnes = async (): Promise<number> => {
    const metrics = (await app.replicas[0]?.metrics()) ?? '';
    return Number(/^realtime_slow_sockets_total(?:{.*})? (\d+)$/m.exec(metrics)?.[1] ?? 'NaN');
  };

  it('get their resume point and are closed, hold less than 1 MiB until then, delay no other, and miss no line when they come back', async () => {
    const [trickling, stopped, steady] = [await reader(), await reader(), await reader()];
    const quick = new ConversationWatcher(app.url, user.cookie, { orgId: user.orgId, conversationId: id });
    trickling.take(1_000);
    stopped.take(0);
    steady.take(250_000);
    const began = performance.now();
    let most = 0;
    try {
      for (let from = 1; from <= LINES; from += 100) {
        const batch = Array.from({ length: 100 }, (_, index) => ({
          producerSeq: from + index,
          event: thought(`${from + index} ${'x'.repeat(LINE_BYTES)}`),
        }));
        expect((await app.ingest(user, id, batch)).status).toBe(200);
        most = Math.max(most, app.unsentBytes());
      }
      await until('the quick one has all', () => quick.lastSeq === LINES, 60_000);
      // None is before a window is over; a busy machine may have needed one for the lines alone.
      const already = await slowOnes();
      if (performance.now() - began < PACE_WINDOW_MS) expect(already).toBe(0);
      await until('two are found too slow', async () => (await slowOnes()) === 2, 2 * PACE_WINDOW_MS + 2_000);
      expect(performance.now() - began).toBeGreaterThan(PACE_WINDOW_MS);
      expect(most).toBeLessThan(3 * SOCKET_MAX_BYTES);
      // A reader that resumes in time gets what was sent, whole, then the resume message; and with its own cursor
      // everything else.
      trickling.take(Number.POSITIVE_INFINITY);
      await until(
        'it is notified and closed',
        () => trickling.resume !== undefined && !trickling.socket.connected,
        PACE_LEAVE_MS,
      );
      expect(trickling.resume).toEqual({ conversationId: id, code: 'slow-consumer', afterSeq: trickling.last });
      expect(trickling.last).toBeLessThan(LINES);
      const back = new ConversationWatcher(app.url, user.cookie, { orgId: user.orgId, conversationId: id });
      trickling.socket.connect();
      await trickling.subscribed();
      await until('it has all', () => trickling.last === LINES, 60_000);
      expect(trickling.seqs).toEqual(Array.from({ length: LINES }, (_, index) => index + 1));
      await until('so has a new one', () => back.lastSeq === LINES, 60_000);
      back.close();
      // Behind for as long, and never sent away: it takes enough.
      expect([steady.resume, steady.socket.connected]).toEqual([undefined, true]);
      steady.take(Number.POSITIVE_INFINITY);
      await until('the steady one has all', () => steady.last === LINES, 60_000);
      await until('nothing waits for the one that stays away', () => app.unsentBytes() === 0, PACE_LEAVE_MS);
      stopped.take(Number.POSITIVE_INFINITY);
      await until('it sees its end', () => !stopped.socket.connected, 60_000);
      expect(stopped.seqs).toEqual(Array.from({ length: stopped.last }, (_, index) => index + 1));
    } finally {
      quick.close();
    }
  });
});

/**
 * A client that takes a number of bytes a second from its connection, and no more: behind that the kernel's buffers
 * fill, then the server's.
 */
class Reader {
  readonly socket: Socket;
  readonly seqs: number[] = [];
  resume: ResumeFrame | undefined;
  private timer: NodeJS.Timeout | undefined;
  private unthrottle: () => void = () => {};

  constructor(
    url: string,
    private readonly user: User,
    private readonly conversationId: string,
  ) {
    this.socket = io(url, {
      path: '/socket.io',
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      extraHeaders: { cookie: user.cookie, origin: url },
    });
    this.socket.on('events', (frame: EventsFrame) => void this.seqs.push(...frame.events.map(({ seq }) => seq)));
    this.socket.on('resume', (frame: ResumeFrame) => {
      this.resume = frame;
    });
  }

  get last(): number {
    return this.seqs.at(-1) ?? 0;
  }

  async subscribed(): Promise<void> {
    const asked = { orgId: this.user.orgId, conversationId: this.conversationId, afterSeq: this.last };
    const answer = (await this.socket.timeout(20_000).emitWithAck('subscribe', asked)) as SubscribeAnswer;
    expect(answer).toMatchObject({ ok: true });
  }

  /** @param rate bytes a second from now on. */
  take(rate: number): void {
    clearInterval(this.timer);
    this.unthrottle();
    const wire = (this.socket.io.engine.transport as unknown as { ws: { _socket: NetSocket } }).ws._socket;
    if (rate === Number.POSITIVE_INFINITY) {
      wire.resume();
      return;
    }
    wire.pause();
    if (rate === 0) return;
    // What arrives between the two is one read of at most 64 KiB: the next is due when the rate allows it.
    let due = performance.now();
    const read = (chunk: Buffer): void => {
      wire.pause();
      due = Math.max(due, performance.now()) + (chunk.length / rate) * 1_000;
    };
    wire.on('data', read);
    this.timer = setInterval(() => {
      if (performance.now() >= due) wire.resume();
    }, 20);
    this.unthrottle = () => void wire.off('data', read);
  }

  close(): void {
    clearInterval(this.timer);
    this.unthrottle();
    this.socket.disconnect();
  }
}

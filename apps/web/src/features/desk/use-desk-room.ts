import type { DeskFrame, MarkFrame } from '@slipway/contracts/events';
import { useEffect } from 'react';
import type { Socket } from 'socket.io-client';
import { api } from '../../api/client.ts';
import type { DeskStore } from './desk-store.ts';

/** Longest wait for the answer to `subscribe_org`. Milliseconds. */
const ANSWER_MS = 10_000;
/** Wait before it subscribes again after a refusal. Milliseconds. */
const AGAIN_MS = 5_000;
/** How often the Desk is read while there is no socket, and the page is looked at. Milliseconds. */
const POLL_MS = 30_000;
/** Readings begin at most this often; the last one is never left out. Milliseconds. */
const APART_MS = 300;
/** How often costs and snoozes are looked at. Milliseconds. */
const TICK_MS = 15_000;

/**
 * Keeps the Desk live: subscribes, reads it, applies what the room sends. It is read again when the room says that
 * something was left out and after each break, and from time to time only while there is no connection.
 */
export function useDeskRoom(store: DeskStore, orgId: string, may: boolean): void {
  useEffect(() => {
    if (!may) return;
    const room = new Room(store, orgId);
    const wake = () => room.wake();
    document.addEventListener('visibilitychange', wake);
    window.addEventListener('online', wake);
    return () => {
      document.removeEventListener('visibilitychange', wake);
      window.removeEventListener('online', wake);
      room.close();
    };
  }, [store, orgId, may]);
}

class Room {
  private socket: Socket | null = null;
  private readonly ended = new AbortController();
  private isReading = false;
  private wanted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly poll: ReturnType<typeof setInterval>;
  private readonly ticks: ReturnType<typeof setInterval>;
  private readonly store: DeskStore;
  private readonly orgId: string;

  constructor(store: DeskStore, orgId: string) {
    this.store = store;
    this.orgId = orgId;
    store.again = this.read;
    this.poll = setInterval(() => !this.store.isLive && isLookedAt() && this.read(), POLL_MS);
    this.ticks = setInterval(() => isLookedAt() && store.tick(Date.now()), TICK_MS);
    // What it needs is loaded after the page: it stands there without it.
    void import('socket.io-client').then(
      ({ io }) => !this.ended.signal.aborted && this.connect(io),
      () => this.read(),
    );
  }

  wake(): void {
    if (!isLookedAt()) return;
    this.store.tick(Date.now());
    if (this.socket?.connected === false) this.socket.connect();
  }

  close(): void {
    this.ended.abort();
    clearTimeout(this.timer);
    clearInterval(this.poll);
    clearInterval(this.ticks);
    this.store.live(false);
    this.socket?.disconnect();
  }

  private connect(io: typeof import('socket.io-client').io): void {
    const socket = io({
      path: '/socket.io',
      transports: ['websocket'],
      reconnectionDelay: 500,
      reconnectionDelayMax: 10_000,
      randomizationFactor: 0.5,
    });
    this.socket = socket;
    socket.on('connect', () => void this.subscribe(socket));
    socket.on('connect_error', () => {
      if (this.store.get().at === null) this.read();
    });
    socket.on('disconnect', (reason) => {
      this.store.live(false);
      if (reason === 'io server disconnect') this.later(() => socket.connect(), AGAIN_MS);
    });
    socket.on('desk', (frame: DeskFrame) => {
      if (frame.orgId === this.orgId && this.store.apply(frame, Date.now())) this.read();
    });
    socket.on('mark', (frame: MarkFrame) => {
      if (frame.orgId === this.orgId && this.store.mark(frame, Date.now())) this.read();
    });
  }

  private async subscribe(socket: Socket): Promise<void> {
    const answer: { ok?: boolean } | null = await socket
      .timeout(ANSWER_MS)
      .emitWithAck('subscribe_org', { orgId: this.orgId })
      .catch(() => null);
    if (!socket.connected || this.ended.signal.aborted) return;
    this.store.live(answer?.ok === true);
    this.read();
    if (!this.store.isLive) this.later(() => socket.connected && void this.subscribe(socket), AGAIN_MS);
  }

  private later(work: () => void, ms: number): void {
    setTimeout(() => !this.ended.signal.aborted && work(), ms);
  }

  /** What is asked for while one reading is on its way is read after it. */
  readonly read = (): void => {
    this.wanted = true;
    if (this.isReading || this.ended.signal.aborted) return;
    this.isReading = true;
    this.wanted = false;
    void this.readNow().finally(() => {
      this.timer = setTimeout(() => {
        this.isReading = false;
        if (this.wanted) this.read();
      }, APART_MS);
    });
  };

  private async readNow(): Promise<void> {
    const { signal } = this.ended;
    this.store.beginReading();
    try {
      const desk = await api.getDesk({ org: this.orgId, query: {}, signal });
      if (!signal.aborted) this.store.read(desk, Date.now());
    } catch (error) {
      if (!signal.aborted) this.store.failed(error, Date.now());
    }
  }
}

const isLookedAt = (): boolean => navigator.onLine && document.visibilityState === 'visible';

import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { ResumeFrame } from '@slipway/contracts/events';
import { PACE_LEAVE_MS } from '@slipway/net';
import type { Logger } from '@slipway/telemetry';
import { Counter, Gauge, type Registry } from '@slipway/telemetry/http';
import type { Server, Socket } from 'socket.io';
import { LOGGER, METRICS } from '../../platform/tokens.js';
import { backlogOf, cutterOf } from './backlog.js';
import { SocketHandshake } from './socket-handshake.js';
import { stateOf } from './subscription.js';

/** At the end of this process a slow socket is awaited no longer. Milliseconds. */
const LAST_MS = 2_000;
/** Parts of a drain: before the first socket is sent elsewhere, and from the first one to the last. */
const QUIET_PART = 0.5;
const NOTICE_PART = 0.25;

/** Sends sockets away with their resume points: the slow ones, and all of them when this process is about to end. */
@Injectable()
export class SocketExit {
  private readonly slow: Counter;

  constructor(
    private readonly handshake: SocketHandshake,
    @Inject(METRICS) private readonly metrics: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.slow = new Counter({
      name: 'realtime_slow_sockets_total',
      help: 'Sockets sent away because they read too slowly',
      registers: [metrics],
    });
  }

  /** How many sockets there are to send away, and what waits for them. @param unsentBytes read at each scrape. */
  measure({ engine }: Server, unsentBytes: () => number): void {
    this.gauge('realtime_sockets', 'Connected sockets', () => engine.clientsCount);
    this.gauge('realtime_unsent_bytes', 'Bytes buffered for sockets that read slowly', unsentBytes);
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.metrics],
      collect() {
        this.set(read());
      },
    });
  }

  tooSlow(socket: Socket): void {
    if (!socket.connected) return;
    this.slow.inc();
    this.logger.info({ unsent_bytes: backlogOf(socket).bytes }, 'slow socket sent away to resume');
    sendAway(socket, 'slow-consumer', PACE_LEAVE_MS);
  }

  /**
   * For the first half of the time nothing changes, since a load balancer may still send reconnecting clients to this
   * replica; then each socket gets its resume point and is closed, spread over a quarter of it, and no new one is
   * taken.
   *
   * @param overMs milliseconds; 0: all at once.
   */
  async drain({ sockets: { sockets } }: Server, overMs: number): Promise<void> {
    await wait(overMs * QUIET_PART);
    this.handshake.end();
    const connected = [...sockets.values()];
    const began = performance.now();
    for (const [index, socket] of connected.entries()) {
      const due = began + (overMs * NOTICE_PART * index) / connected.length;
      if (due > performance.now()) await wait(due - performance.now());
      sendAway(socket, 'draining', PACE_LEAVE_MS);
    }
    // Who was being let in meanwhile.
    for (const socket of sockets.values()) sendAway(socket, 'draining', PACE_LEAVE_MS);
    this.logger.info({ sockets: connected.length }, 'sockets sent away to resume on another replica');
  }

  /** Sends all sockets away at once, at the end of this process, and takes no new one. */
  now({ sockets: { sockets } }: Server): void {
    this.handshake.end();
    for (const socket of sockets.values()) sendAway(socket, 'draining', LAST_MS);
  }
}

/**
 * The frame that says where to resume is the last in what waits for the socket. One that does not take it within
 * `leaveMs` is cut, and its client resumes from its own cursor just the same.
 */
function sendAway(socket: Socket, code: ResumeFrame['code'], leaveMs: number): void {
  setTimeout(cutterOf(socket), leaveMs).unref();
  for (const [conversationId, { reader }] of stateOf(socket).subscriptions ?? [])
    if (reader !== null) socket.emit('resume', { conversationId, code, afterSeq: reader.position });
  socket.disconnect(true);
}

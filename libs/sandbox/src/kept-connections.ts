import http from 'node:http';
import type { Duplex } from 'node:stream';

/** Connections to one sandbox that stay open between requests. */
const OF_ONE_SANDBOX = 4;

/**
 * Keeps connections to sandboxes open between requests, at most so many in all: those that were used last. Each costs twenty kilobytes here, and a pool may have
 * ten thousand sandboxes; a claim of one whose connection was given up makes a new one, which takes a fraction of a millisecond.
 */
export class KeptConnections extends http.Agent {
  /** Those that wait for a request, the one that has waited longest first. */
  private readonly waiting = new Set<Duplex>();
  private readonly known = new WeakSet<Duplex>();

  constructor(private readonly most: number) {
    super({ keepAlive: true, maxFreeSockets: OF_ONE_SANDBOX });
  }

  /** Called by Node when a request is over. */
  override keepSocketAlive(socket: Duplex): boolean {
    const keeps = (super.keepSocketAlive as (socket: Duplex) => boolean | undefined)(socket) !== false;
    if (!keeps) return false;
    if (!this.known.has(socket)) socket.once('close', () => this.waiting.delete(socket));
    this.known.add(socket);
    this.waiting.add(socket);
    if (this.waiting.size > this.most) {
      const [longest] = this.waiting;
      longest?.destroy();
      if (longest !== undefined) this.waiting.delete(longest);
    }
    return true;
  }

  override reuseSocket(socket: Duplex, request: http.ClientRequest): void {
    this.waiting.delete(socket);
    super.reuseSocket(socket, request);
  }
}

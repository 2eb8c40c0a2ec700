import type { Server } from 'node:http';
import { createServer, type Socket, type Server as TcpServer } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { InternalSignature } from '@slipway/auth/internal-signature';
import type { BrokerLine } from '@slipway/contracts/credentials';
import { canonicalHost } from '@slipway/net';
import type { OpenTunnels } from '../control/open-tunnels.js';
import { Upstream, type UpstreamOptions } from '../forward/upstream.js';
import type { BrokerMetrics } from '../metrics.js';
import { readBrokerLine } from './broker-line.js';
import type { LeafCertificates } from './leaf-certificates.js';
import type { Tunnel } from './tunnel.js';

/** Longest handshake. Milliseconds. */
const HANDSHAKE_MS = 10_000;
/** The fatal alert `unrecognized_name`: what TLS clients can say in words. */
const UNRECOGNIZED_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);

export interface IntakeOptions {
  readonly signature: InternalSignature;
  readonly leaves: LeafCertificates;
  readonly tunnels: OpenTunnels;
  readonly upstream: UpstreamOptions;
  readonly metrics: BrokerMetrics;
  readonly connectionsPerSandbox: number;
  readonly maxConnections: number;
}

/**
 * Takes connections of egress-proxy: reads whose they are, ends TLS where the sandbox speaks it, and hands what is
 * within to the HTTP server.
 */
export class Intake {
  readonly server: TcpServer;
  private readonly found = new WeakMap<Socket, Tunnel>();

  constructor(
    private readonly http: Server,
    private readonly options: IntakeOptions,
  ) {
    this.server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 }, (socket) => {
      socket.on('error', () => socket.destroy());
      this.take(socket).catch(() => socket.destroy());
    });
    this.server.maxConnections = options.maxConnections;
  }

  /** Whose a connection of the HTTP server is. */
  tunnelOf(socket: Socket): Tunnel | undefined {
    return this.found.get(socket);
  }

  private async take(socket: Socket): Promise<void> {
    const { signature, tunnels, connectionsPerSandbox } = this.options;
    const line = await readBrokerLine(socket, signature, () => new Date());
    if (line === null) return this.refuse(socket, 'line');
    if (tunnels.countOf(line.claim) >= connectionsPerSandbox) return this.refuse(socket, 'limit');
    if (!line.tls) return this.serve(line, socket);
    const secure = await this.endTls(line, socket);
    if (secure !== null) this.serve(line, secure);
  }

  private refuse(socket: Socket, why: 'line' | 'limit' | 'server-name' | 'handshake'): void {
    this.options.metrics.refusedConnections.inc({ why });
    socket.destroy();
  }

  /** @returns `null` where the handshake failed, or was for another name. */
  private async endTls({ host }: BrokerLine, socket: Socket): Promise<TLSSocket | null> {
    const secureContext = await this.options.leaves.contextOf(host);
    if (socket.destroyed) return null;
    return new Promise((resolve) => {
      const isHost = (name: string | false): boolean => name !== false && canonicalHost(name) === host;
      const secure = new TLSSocket(socket, {
        isServer: true,
        secureContext,
        ALPNProtocols: ['http/1.1'],
        SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void) => {
          if (isHost(name)) return done(null, secureContext);
          socket.write(UNRECOGNIZED_NAME);
          done(new Error('another server name'));
        },
      });
      const over = (result: TLSSocket | null, why: 'server-name' | 'handshake'): void => {
        clearTimeout(late);
        secure.off('close', closed);
        if (result === null) this.refuse(secure, why);
        resolve(result);
      };
      const late = setTimeout(() => over(null, 'handshake'), HANDSHAKE_MS);
      const closed = (): void => over(null, 'handshake');
      secure.on('error', () => secure.destroy()).once('close', closed);
      secure.once('secure', () => over(isHost(secure.servername ?? false) ? secure : null, 'server-name'));
    });
  }

  private serve(line: BrokerLine, socket: Socket): void {
    const { metrics, tunnels, upstream: rules } = this.options;
    const upstream = new Upstream(line, rules, () => {
      // As on a connection of its own: the client learns at once that the host does not go on.
      if (tunnel.busy === 0) socket.destroySoon();
    });
    const tunnel: Tunnel = {
      line,
      socket,
      upstream,
      certified: new Map(),
      used: new Map(),
      running: new Set(),
      confirmedAt: performance.now(),
      endsAt: Number.POSITIVE_INFINITY,
      busy: 0,
      cut: null,
    };
    this.found.set(socket, tunnel);
    metrics.open.inc();
    socket.once('close', () => {
      metrics.open.dec();
      for (const each of [upstream, ...tunnel.certified.values()]) {
        each.destroy();
        const { out, in: received } = each.counts;
        metrics.bytes.inc({ direction: 'out' }, out);
        metrics.bytes.inc({ direction: 'in' }, received);
      }
    });
    tunnels.add(tunnel);
    this.http.emit('connection', socket);
    // What came with the first line waits in it.
    socket.resume();
  }
}

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '@slipway/telemetry';
import type { WebSocketServer } from 'ws';
import type { LiveChannels } from './live.js';
import { LiveSocket } from './live-socket.js';

/** Longest frame that is taken in. Bytes. */
const MAX_FRAME = 16 * 1024 * 1024;
/** Most live connections at once. */
const MAX_CONNECTIONS = 200;
const PATH = /^\/live\/([a-z][a-z0-9-]{0,39})$/;

export interface LiveServerOptions {
  readonly channels: LiveChannels;
  /** Whether the request has the token. */
  readonly authorized: (request: IncomingMessage) => boolean;
  readonly logger: Logger;
}

/**
 * Serves `/live/<channel>` as WebSockets: 401 without the token, 404 for a channel that there is not, 503 past
 * `MAX_CONNECTIONS`.
 */
export function serveLive(http: Server, { channels, authorized, logger }: LiveServerOptions): void {
  let loading: Promise<WebSocketServer> | undefined;
  let open = 0;
  http.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on('error', () => stream.destroy());
    const url = new URL(`http://localhost${request.url?.startsWith('/') ? request.url : '/'}`);
    const name = PATH.exec(url.pathname)?.[1] ?? '';
    const channel = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (!authorized(request)) return refuse(stream, '401 Unauthorized');
    if (channel === undefined) return refuse(stream, '404 Not Found');
    if (open >= MAX_CONNECTIONS) return refuse(stream, '503 Service Unavailable');
    // Counted before the library is there, and until the connection is gone.
    open += 1;
    stream.once('close', () => {
      open -= 1;
    });
    loading ??= import('ws').then(
      ({ WebSocketServer }) =>
        new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME, clientTracking: false }),
    );
    void loading.then(
      (server) =>
        server.handleUpgrade(request, stream, head, (socket) => {
          const connection = new LiveSocket(socket);
          try {
            channel(connection, url.searchParams);
          } catch (error) {
            logger.error({ err: error, channel: name }, 'live channel failed');
            connection.close(1011, 'something broke on our side');
          }
        }),
      (error: unknown) => {
        logger.error({ err: error }, 'live channels not served');
        stream.destroy();
      },
    );
  });
}

function refuse(stream: Duplex, status: string): void {
  stream.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}

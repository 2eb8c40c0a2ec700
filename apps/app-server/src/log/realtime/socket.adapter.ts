import type { WsMessageHandler } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AbstractWsAdapter } from '@nestjs/websockets';
import type { Logger } from '@slipway/telemetry';
import { lastValueFrom, type Observable } from 'rxjs';
import { Server, type ServerOptions, type Socket } from 'socket.io';
import { Decoder } from 'socket.io-parser';
import { LOGGER } from '../../platform/tokens.js';
import { FrameEncoder } from './frame-encoder.js';
import type { Acknowledge, SocketMessage } from './messages/socket-message.js';
import { SocketHandshake } from './socket-handshake.js';

/**
 * socket.io for Nest's gateways, on the app's own HTTP server and with our encoder. Nest sees what clients send and
 * nothing else: frames go from `ConversationRoom` and `SocketReader` to socket.io's own objects.
 */
export class SlipwaySocketAdapter extends AbstractWsAdapter {
  private readonly logger: Logger;

  constructor(private readonly app: NestFastifyApplication) {
    super(app);
    this.logger = app.get<Logger>(LOGGER);
  }

  /** @param options what the gateway declares. */
  create(_port: number, options: Partial<ServerOptions> = {}): Server {
    const handshake = this.app.get(SocketHandshake);
    return new Server(this.httpServer, {
      ...options,
      parser: { Encoder: FrameEncoder, Decoder },
      allowRequest: ({ headers }, answer) => answer(null, handshake.mayConnect(headers)),
    });
  }

  /** A handler gets a `SocketMessage`; what it returns is the acknowledgement, unless it takes `@Ack()`. */
  bindMessageHandlers(
    socket: Socket,
    handlers: WsMessageHandler[],
    transform: (result: unknown) => Observable<unknown>,
  ): void {
    for (const { message: name, callback, isAckHandledManually } of handlers)
      socket.on(name, (body: unknown, acknowledge: unknown) => {
        const answer = typeof acknowledge === 'function' ? (acknowledge as Acknowledge<unknown>) : () => {};
        const message: SocketMessage = { body };
        lastValueFrom(transform(callback(message, answer)), { defaultValue: undefined }).then(
          (result) => {
            if (result !== undefined && !isAckHandledManually) answer(result);
          },
          (error: unknown) =>
            this.logger.error({ err: error, message: name }, 'failed to handle a message of a socket'),
        );
      });
    socket.on('error', (error) => this.logger.debug({ err: error }, 'socket error'));
  }

  /** Ends every connection. The HTTP server is closed by Nest's own adapter. */
  override async close(server: Server): Promise<void> {
    server.engine.close();
  }
}

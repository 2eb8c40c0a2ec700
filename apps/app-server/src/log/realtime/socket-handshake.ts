import type { IncomingHttpHeaders } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { type Authenticated, bearerOf, PrincipalService } from '@slipway/auth';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Socket } from 'socket.io';
import { LOGGER } from '../../platform/tokens.js';
import { AccessWatch, watchedCredential } from '../events/access-watch.js';
import { StreamSeats } from '../events/stream-seats.js';
import { type Refusal, refusalOf } from './messages/refusal.filter.js';

const NOT_AUTHENTICATED = 'You are not signed in, your session has ended, or the API key is not valid.';

/** Decides which connections become sockets, and who is behind one. */
@Injectable()
export class SocketHandshake {
  private ended = false;

  constructor(
    private readonly principals: PrincipalService,
    private readonly seats: StreamSeats,
    private readonly access: AccessWatch,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether a connection may begin a handshake: not one of another site's page, and none after `end()`. */
  mayConnect(headers: IncomingHttpHeaders): boolean {
    return !this.ended && this.principals.mayOpenSocket(headers);
  }

  end(): void {
    this.ended = true;
  }

  /**
   * socket.io's middleware: a socket has a user who has passed every gate and has a seat left. It ends with its session
   * or key.
   */
  readonly middleware = (socket: Socket, next: (refusal?: Error) => void): void => {
    this.admit(socket)
      .catch((error: unknown) => refusalOf(error, this.logger))
      .then((refusal) =>
        next(
          refusal === null
            ? undefined
            : Object.assign(new Error(refusal.code), { data: { code: refusal.code, detail: refusal.detail } }),
        ),
      );
  };

  /** Who is behind a socket, as of now. @throws SlipwayError `auth.missing` */
  async authenticate(socket: Socket): Promise<Authenticated> {
    const authenticated = await this.find(socket);
    if (authenticated === null) throw new SlipwayError('auth.missing', NOT_AUTHENTICATED);
    return authenticated;
  }

  private async admit(socket: Socket): Promise<Refusal | null> {
    let authenticated: Authenticated | null;
    try {
      authenticated = await this.find(socket);
    } catch (error) {
      this.logger.warn({ err: error }, 'socket authentication failed');
      return { ok: false, code: 'service.unavailable', detail: 'Try again in a moment.' };
    }
    if (authenticated === null) return { ok: false, code: 'auth.missing', detail: NOT_AUTHENTICATED };
    const [gate] = this.principals.gatesOfCredential(authenticated);
    if (gate !== undefined)
      return {
        ok: false,
        code: `account.${gate}`,
        detail: 'There is something to be done first; GET /api/v1/me says what.',
      };
    const user = authenticated.kind === 'session' ? authenticated.user.userId : authenticated.key.owner.id;
    socket.conn.once('close', this.seats.take({ user }));
    // Also one that reads nothing ends with its session or key.
    const stopWatch = this.access.watchCredential(watchedCredential(authenticated), () => socket.disconnect(true));
    socket.conn.once('close', stopWatch);
    return null;
  }

  /**
   * By the API key of the handshake, as `auth: {token}` or in `Authorization`, or else by the cookie: as a request is
   * authenticated.
   */
  private find({ handshake: { auth, headers } }: Socket): Promise<Authenticated | null> {
    const { token } = auth as { token?: unknown };
    const { cookie, authorization } = headers;
    if (token === undefined || token === null) return this.principals.authenticate({ cookie, authorization });
    return this.principals.authenticate({
      authorization: `Bearer ${typeof token === 'string' ? (bearerOf(token) ?? token) : ''}`,
    });
  }
}

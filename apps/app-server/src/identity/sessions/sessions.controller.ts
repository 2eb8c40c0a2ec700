import { Controller, Param, Res } from '@nestjs/common';
import { SessionCookie, Sessions, type SignedIn } from '@slipway/auth';
import {
  type EndedSessions,
  type EndSessions,
  MAX_LISTED_SESSIONS,
  type MySessionList,
} from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import { notFound } from '@slipway/errors';
import type { FastifyReply } from 'fastify';
import { Body, User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { deviceOf } from './device.js';

/** Browsers that are signed in as the user who asks. */
@Controller()
export class SessionsController {
  constructor(
    private readonly sessions: Sessions,
    private readonly cookie: SessionCookie,
  ) {}

  @Serves(operations.listMySessions)
  async list(@User() user: SignedIn): Promise<MySessionList> {
    const sessions = await this.sessions.list(user.userId, MAX_LISTED_SESSIONS);
    return {
      data: sessions.map(({ id, userAgent, address, createdAt, lastSeenAt, expiresAt }) => ({
        id,
        current: id === user.sessionId,
        device: deviceOf(userAgent),
        address,
        createdAt: createdAt.toISOString(),
        lastSeenAt: lastSeenAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      })),
    };
  }

  @Serves(operations.endMySession)
  async end(
    @User() user: SignedIn,
    @Param('session') session: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    if (!(await this.sessions.endOf(user.userId, session))) throw notFound();
    if (session === user.sessionId) void reply.header('set-cookie', this.cookie.clear());
  }

  @Serves(operations.endMySessions)
  async endAll(
    @User() user: SignedIn,
    @Body() { which }: EndSessions,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EndedSessions> {
    const ended = await this.sessions.endAll(user.userId, which === 'others' ? user.sessionId : null);
    if (which === 'all') void reply.header('set-cookie', this.cookie.clear());
    return { ended };
  }
}

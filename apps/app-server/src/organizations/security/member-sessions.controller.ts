import { Controller, Param } from '@nestjs/common';
import type { Authenticated } from '@slipway/auth';
import { type EndedSessions } from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import { type ListMemberSessionsQuery, type MemberSessionPage, type Principal } from '@slipway/contracts/organizations';
import { notFound } from '@slipway/errors';
import { Caller, Credential, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { userId } from '../members/members.controller.js';
import { MemberSessionsService } from './member-sessions.service.js';

/** Browsers that are signed in as members of an organization, for its admins. */
@Controller()
export class MemberSessionsController {
  constructor(private readonly sessions: MemberSessionsService) {}

  @Serves(operations.listMemberSessions)
  list(
    @Caller() caller: Principal,
    @Credential() authenticated: Authenticated,
    @Query() query: ListMemberSessionsQuery,
  ): Promise<MemberSessionPage> {
    return this.sessions.list(caller, authenticated.kind === 'session' ? authenticated.user.sessionId : null, query);
  }

  @Serves(operations.endMemberSession)
  async end(@Caller() caller: Principal, @Param('session') session: string): Promise<void> {
    if (!/^\w{1,100}$/.test(session)) throw notFound();
    if ((await this.sessions.end(caller, { sessionId: session })) === 0) throw notFound();
  }

  @Serves(operations.endMemberSessions)
  async endAll(@Caller() caller: Principal, @Param('user') user: string): Promise<EndedSessions> {
    return { ended: await this.sessions.end(caller, { userId: userId(user) }) };
  }
}

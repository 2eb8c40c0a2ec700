import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { PrincipalService, type SignedIn } from '@slipway/auth';
import {
  type BeginLink,
  LINKED_ACCOUNTS_PAGE,
  type LinkBegun,
  type LinkedAccount,
  type LinkedAccountList,
  type OAuthClient,
  type SetOAuthClient,
} from '@slipway/contracts/identity';
import { connectionPage } from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import type { ApprovePullRequest } from '@slipway/contracts/repositories';
import { SlipwayError } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.js';
import { Body, Caller, User } from '../../http/params.js';
import { AuthenticatesItself, Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { CONFIG } from '../../platform/tokens.js';
import { AuthorizationsService } from '../authorization/authorizations.service.js';
import { type ComeBack, LinkedAccountsService } from './linked-accounts.service.js';
import { OAuthClientService } from './oauth-client.service.js';

@Controller()
export class LinkingController {
  constructor(
    private readonly accounts: LinkedAccountsService,
    private readonly clients: OAuthClientService,
    private readonly authorizations: AuthorizationsService,
    private readonly principals: PrincipalService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Serves(operations.getOAuthClient)
  getClient(@Caller() caller: Principal, @Param('connection') id: string): Promise<OAuthClient> {
    return this.clients.get(caller, id);
  }

  @Serves(operations.setOAuthClient)
  setClient(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Body() body: SetOAuthClient,
  ): Promise<OAuthClient> {
    return this.clients.set(caller, id, body);
  }

  @Serves(operations.deleteOAuthClient)
  deleteClient(@Caller() caller: Principal, @Param('connection') id: string): Promise<void> {
    return this.clients.delete(caller, id);
  }

  @Serves(operations.listLinkedAccounts)
  list(@User() user: SignedIn): Promise<LinkedAccountList> {
    return this.accounts.list(user);
  }

  @Serves(operations.beginLink)
  async begin(
    @User() user: SignedIn,
    @Body() body: BeginLink,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LinkBegun> {
    const { begun, cookie } = await this.accounts.begin(user, body);
    void reply.header('set-cookie', cookie).header('cache-control', 'no-store');
    return begun;
  }

  @Serves(operations.approvePullRequest)
  async approve(
    @Caller() caller: Principal,
    @User() user: SignedIn,
    @Param() { conversation = '', number = '' }: Record<string, string>,
    @Body() body: ApprovePullRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LinkBegun> {
    const where = { conversation: conversationId(conversation), number };
    const { begun, cookie } = await this.accounts.beginApproval(caller, user, where, body);
    void reply.header('set-cookie', cookie).header('cache-control', 'no-store');
    return begun;
  }

  @Serves(operations.confirmLink)
  confirm(@User() user: SignedIn, @Param('link') id: string): Promise<LinkedAccount> {
    return this.accounts.confirm(user, id);
  }

  @Serves(operations.deleteLinkedAccount)
  delete(@User() user: SignedIn, @Param('link') id: string): Promise<void> {
    return this.accounts.delete(user, id);
  }

  /**
   * Where providers send browsers back to. A browser goes on to the page of linked accounts, with what is to be
   * confirmed or what went wrong; a program is answered the problem.
   */
  @Get('oauth/integrations/callback/:connection')
  @AuthenticatesItself('by the session, the state and the cookie of who began')
  async comeBack(
    @Param('connection') connection: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const back = (request.query ?? {}) as ComeBack;
    let page = LINKED_ACCOUNTS_PAGE;
    try {
      const user = await this.principals.authenticateCookie(request.headers.cookie);
      if (user === null) throw new SlipwayError('auth.missing', 'You are not signed in, or your session has ended.');
      this.principals.assertGatesPassed({ kind: 'session', user });
      // One address for both, since providers keep one: what was begun is known by its state.
      const begun = await this.authorizations.taken(back.state);
      if (begun !== null) {
        page = pageOf(user, begun);
        const cookie = await this.authorizations.comeBack(user, connection, {
          request: begun,
          back,
          cookieHeader: request.headers.cookie,
        });
        void reply.header('set-cookie', cookie).header('cache-control', 'no-store');
        return void reply.redirect(this.page(page, { authorization: begun.id }), 302);
      }
      const came = await this.accounts.comeBack(user, connection, back, request.headers.cookie);
      void reply.header('set-cookie', came.cookie).header('cache-control', 'no-store');
      if (came.problem !== null && !(request.headers.accept ?? '').includes('text/html')) throw came.problem;
      void reply.redirect(this.page(came.page, came.query), 302);
    } catch (error) {
      if (!(error instanceof SlipwayError) || !(request.headers.accept ?? '').includes('text/html')) throw error;
      void reply.header('cache-control', 'no-store').redirect(this.page(page, { problem: error.code }), 302);
    }
  }

  private page(path: string, query: Readonly<Record<string, string>>): string {
    const url = new URL(path, this.config.PUBLIC_URL);
    url.search = new URLSearchParams(query).toString();
    return url.href;
  }
}

/** Of the connection that was to be authorized; for a user outside of its organization, their own. */
function pageOf(
  { orgs }: SignedIn,
  { org_id, connection_id }: { readonly org_id: string; readonly connection_id: string },
): string {
  const org = orgs.find(({ id }) => id === org_id);
  return org === undefined ? LINKED_ACCOUNTS_PAGE : connectionPage(org.slug, connection_id);
}

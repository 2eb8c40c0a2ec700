import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { PrincipalService, type SignedIn } from '@slipway/auth';
import {
  type InstallApp,
  type InstallationBegun,
  type InstallPlatformApp,
  type IntegrationConnection,
  type RegisterApp,
  type RegistrationBegun,
  type ReplaceAppSecrets,
} from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { SlipwayError } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.js';
import { Body, Caller, User } from '../../http/params.js';
import { AuthenticatesItself, Serves } from '../../http/serves.js';
import { CONFIG } from '../../platform/tokens.js';
import { ConnectionsService } from '../connections.service.js';
import type { ComeBack } from './app-come-back.js';
import { AppInstallationService } from './app-installation.service.js';
import { AppRegistrationService } from './app-registration.service.js';
import { AppUpkeepService } from './app-upkeep.service.js';

/** Below the address of an organization. */
const INTEGRATIONS_PAGE = '/admin/integrations';
const PROVES = 'by the session, the state and the cookie of who began';

@Controller()
export class AppsController {
  constructor(
    private readonly registrations: AppRegistrationService,
    private readonly installations: AppInstallationService,
    private readonly upkeep: AppUpkeepService,
    private readonly connections: ConnectionsService,
    private readonly principals: PrincipalService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Serves(operations.registerIntegrationApp)
  register(@User() user: SignedIn, @Caller() caller: Principal, @Body() body: RegisterApp): Promise<RegistrationBegun> {
    return this.registrations.begin(user, caller, body);
  }

  @Serves(operations.installPlatformApp)
  async installPlatform(
    @User() user: SignedIn,
    @Caller() caller: Principal,
    @Body() body: InstallPlatformApp,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InstallationBegun> {
    return keep(reply, await this.installations.beginPlatform(user, caller, body));
  }

  @Serves(operations.installIntegrationApp)
  async install(
    @User() user: SignedIn,
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Body() body: InstallApp,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InstallationBegun> {
    return keep(reply, await this.installations.begin(user, caller, id, body));
  }

  @Serves(operations.refreshIntegrationApp)
  async refresh(@Caller() caller: Principal, @Param('connection') id: string): Promise<IntegrationConnection> {
    await this.installations.refresh(caller, id);
    return this.connections.get(caller, id);
  }

  @Serves(operations.releaseIntegrationApp)
  async release(@Caller() caller: Principal, @Param('connection') id: string): Promise<IntegrationConnection> {
    await this.upkeep.release(caller, id);
    return this.connections.get(caller, id);
  }

  @Serves(operations.replaceIntegrationAppSecrets)
  async replaceSecrets(
    @Caller() caller: Principal,
    @Param('connection') id: string,
    @Body() body: ReplaceAppSecrets,
  ): Promise<IntegrationConnection> {
    await this.upkeep.replaceSecrets(caller, id, body);
    return this.connections.get(caller, id);
  }

  @Get('oauth/integrations/apps/register/:request')
  @AuthenticatesItself('by the session that began, for a registration of its own')
  form(@Param('request') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.answered(request, reply, async (user) => {
      const { html, policy, cookie } = await this.registrations.form(user, id);
      void reply
        .headers({ 'set-cookie': cookie, 'cache-control': 'no-store', 'content-security-policy': policy })
        .type('text/html; charset=utf-8')
        .send(html);
      return null;
    });
  }

  @Get('oauth/integrations/apps/:connection/registered')
  @AuthenticatesItself(PROVES)
  registered(
    @Param('connection') id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answered(request, reply, (user, came) => this.registrations.finish(user, id, came));
  }

  @Get('oauth/integrations/apps/:connection/installed')
  @AuthenticatesItself(PROVES)
  installed(
    @Param('connection') connectionId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answered(request, reply, (user, came) => this.installations.finish(user, { connectionId }, came));
  }

  @Get('oauth/integrations/platform-apps/:provider/installed')
  @AuthenticatesItself(PROVES)
  platformInstalled(
    @Param('provider') platform: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answered(request, reply, (user, came) => this.installations.finish(user, { platform }, came));
  }

  /**
   * A browser goes on to the page of the connection, or to the list with what went wrong; a program is answered the
   * problem.
   */
  private async answered(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (user: SignedIn, came: ComeBack) => Promise<{ readonly id: string; readonly cookie: string } | null>,
  ): Promise<void> {
    let slug = '';
    try {
      const user = await this.principals.authenticateCookie(request.headers.cookie);
      if (user === null) throw new SlipwayError('auth.missing', 'You are not signed in, or your session has ended.');
      this.principals.assertGatesPassed({ kind: 'session', user });
      slug = user.orgs[0]?.slug ?? '';
      const begunIn = (orgId: string): void => {
        slug = user.orgs.find(({ id }) => id === orgId)?.slug ?? slug;
      };
      const done = await work(user, {
        query: (request.query ?? {}) as ComeBack['query'],
        cookieHeader: request.headers.cookie,
        begunIn,
      });
      if (done === null) return;
      void reply
        .headers({ 'set-cookie': done.cookie, 'cache-control': 'no-store' })
        .redirect(this.page(slug, `/${encodeURIComponent(done.id)}`), 302);
    } catch (error) {
      if (!(error instanceof SlipwayError) || !(request.headers.accept ?? '').includes('text/html')) throw error;
      void reply
        .header('cache-control', 'no-store')
        .redirect(this.page(slug, `?problem=${encodeURIComponent(error.code)}`), 302);
    }
  }

  private page(slug: string, rest: string): string {
    return new URL(
      slug === '' ? '/' : `/${encodeURIComponent(slug)}${INTEGRATIONS_PAGE}${rest}`,
      this.config.PUBLIC_URL,
    ).href;
  }
}

function keep(
  reply: FastifyReply,
  { begun, cookie }: { readonly begun: InstallationBegun; readonly cookie: string },
): InstallationBegun {
  void reply.header('set-cookie', cookie).header('cache-control', 'no-store');
  return begun;
}

import { Controller, Get, HttpCode, Inject, Post, Req, Res } from '@nestjs/common';
import { isLoopback, PrincipalService } from '@slipway/auth';
import { SlipwayError } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config.js';
import { AuthenticatesItself } from '../../http/serves.js';
import { CONFIG } from '../../platform/tokens.js';
import { CALLBACK_PATH, SWITCHED_PATH } from './paths.js';
import { SignInService } from './sign-in.service.js';
import { signInProblemPage } from './sign-in-problem.page.js';
import { signInRequestOf } from './sign-in-request.js';

@Controller()
@AuthenticatesItself('the routes by which a browser comes to have a session')
export class SignInController {
  constructor(
    private readonly signIn: SignInService,
    private readonly principals: PrincipalService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('oauth/login')
  async login(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const publicUrl = new URL(this.config.PUBLIC_URL);
    // Cookies belong to a host: a browser on this machine that came by another of its names goes on under the public
    // one.
    if (request.host !== publicUrl.host && isLoopback(request.hostname) && isLoopback(publicUrl.hostname))
      return void reply.redirect(new URL(request.url, publicUrl).href, 302);
    await this.redirect(request, reply, () => {
      const asked = signInRequestOf(request.query);
      // Another site's link must not sign anybody out.
      const ours =
        request.headers['sec-fetch-site'] !== 'cross-site' && request.headers['sec-fetch-site'] !== 'same-site';
      return asked.switching && ours ? this.signIn.switchUser(asked, request.headers.cookie) : this.signIn.begin(asked);
    });
  }

  @Get(SWITCHED_PATH)
  async switched(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { state } = (request.query ?? {}) as { state?: unknown };
    await this.redirect(request, reply, () => this.signIn.begin(this.signIn.switchedTo(state)));
  }

  @Get(CALLBACK_PATH)
  async callback(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.redirect(request, reply, () =>
      this.signIn.finish(request.url.split('?')[1] ?? '', request.headers.cookie, {
        userAgent: request.headers['user-agent'] ?? null,
        address: request.ip,
      }),
    );
  }

  @Post('api/logout')
  @HttpCode(200)
  async logout(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ logoutUrl: string }> {
    const { logoutUrl, cookies } = await this.signIn.end(request.headers.cookie);
    void reply.header('set-cookie', cookies);
    return { logoutUrl };
  }

  @Post('api/authenticate')
  @HttpCode(200)
  async authenticate(@Req() request: FastifyRequest): Promise<{ authenticated: true }> {
    if ((await this.principals.authenticateCookie(request.headers.cookie)) === null)
      throw new SlipwayError('auth.missing', 'You are not signed in, or your session has ended.');
    return { authenticated: true };
  }

  /** A user's browser gets a page with a way on instead of a problem document. */
  private async redirect(
    request: FastifyRequest,
    reply: FastifyReply,
    step: () => Promise<{ location: string; cookies: string[] }>,
  ): Promise<void> {
    try {
      const { location, cookies } = await step();
      void reply.header('set-cookie', cookies).header('cache-control', 'no-store').redirect(location, 302);
    } catch (error) {
      if (!(error instanceof SlipwayError) || !(request.headers.accept ?? '').includes('text/html')) throw error;
      const page = signInProblemPage(error);
      void reply.code(page.status).headers(page.headers).send(page.html);
    }
  }
}

import { Controller, Post, Req, Res } from '@nestjs/common';
import { SlipwayError } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatesItself } from '../../http/serves.js';
import { SignInService } from './sign-in.service.js';

/**
 * OpenID Connect Back-Channel Logout 1.0: the issuer itself says which of its sessions are over. Register
 * `<PUBLIC_URL>/oauth/backchannel-logout` with the client.
 */
@Controller()
@AuthenticatesItself('a logout token, signed by the issuer')
export class BackchannelLogoutController {
  constructor(private readonly signIn: SignInService) {}

  /**
   * 200 when nothing of what the token names is left, whether there was anything or not; 400 for what is no logout
   * token of our issuer for us; 503 while the issuer's keys cannot be had. By then it is over for requests, sockets and
   * sandboxes everywhere within two seconds.
   */
  @Post('oauth/backchannel-logout')
  async logout(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.header('cache-control', 'no-store');
    const { logout_token: token } = (request.body ?? {}) as { logout_token?: unknown };
    try {
      const ended = await this.signIn.endByIssuer(token);
      if (ended === 'refused')
        return void reply
          .code(400)
          .send({ error: 'invalid_request', error_description: 'logout_token is no logout token for us' });
      void reply.code(200).send();
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'auth.unavailable') throw error;
      void reply.code(503).header('retry-after', '5').send({ error: 'temporarily_unavailable' });
    }
  }
}

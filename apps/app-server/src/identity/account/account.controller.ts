import { Controller, Headers, Res } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import {
  type AcceptTerms,
  type MySettings,
  type UpdateMySettings,
  type VerifyEmail,
} from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import { type Me } from '@slipway/contracts/organizations';
import type { FastifyReply } from 'fastify';
import { Body, User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { MeService } from '../me/me.service.js';
import { AccountService } from './account.service.js';

/** Operations of a user on their own account: gates and settings. */
@Controller()
export class AccountController {
  constructor(
    private readonly account: AccountService,
    private readonly me: MeService,
  ) {}

  @Serves(operations.acceptTerms)
  async acceptTerms(@User() user: SignedIn, @Body() body: AcceptTerms): Promise<Me> {
    return this.me.of(await this.account.acceptTerms(user, body.version));
  }

  /** OpenHands' name for it, and its answer. */
  @Serves(operations.acceptTerms, { path: '/api/accept_tos' })
  async acceptTos(@User() user: SignedIn, @Body() body: AcceptTerms): Promise<{ redirect_url: string }> {
    await this.account.acceptTerms(user, body.version);
    return { redirect_url: '/' };
  }

  @Serves(operations.verifyEmail)
  verifyEmail(@User() user: SignedIn): VerifyEmail {
    return {
      url: `/oauth/login?${new URLSearchParams({ verify: '1', ...(user.email === null ? {} : { login_hint: user.email }) })}`,
    };
  }

  @Serves(operations.getMySettings)
  async settings(@User() user: SignedIn, @Res({ passthrough: true }) reply: FastifyReply): Promise<MySettings> {
    return versioned(await this.account.settings(user.userId), reply);
  }

  @Serves(operations.updateMySettings)
  async updateSettings(
    @User() user: SignedIn,
    @Body() change: UpdateMySettings,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MySettings> {
    return versioned(await this.account.changeSettings(user.userId, change, ifMatch), reply);
  }
}

function versioned(settings: MySettings, reply: FastifyReply): MySettings {
  void reply.header('etag', `"${settings.version}"`);
  return settings;
}

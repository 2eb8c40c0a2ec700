import { Controller, Headers, Res } from '@nestjs/common';
import type { Authenticated } from '@slipway/auth';
import { operations } from '@slipway/contracts/operations';
import { type Principal, type SecurityRules, type UpdateSecurityRules } from '@slipway/contracts/organizations';
import type { FastifyReply } from 'fastify';
import { Body, Caller, Credential } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { SecurityRulesService } from './security-rules.service.js';

@Controller()
export class SecurityRulesController {
  constructor(private readonly rules: SecurityRulesService) {}

  @Serves(operations.getSecurityRules)
  async get(@Caller() caller: Principal, @Res({ passthrough: true }) reply: FastifyReply): Promise<SecurityRules> {
    return versioned(await this.rules.get(caller), reply);
  }

  @Serves(operations.updateSecurityRules)
  async update(
    @Caller() caller: Principal,
    @Credential() authenticated: Authenticated,
    @Body() change: UpdateSecurityRules,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SecurityRules> {
    const sessionId = authenticated.kind === 'session' ? authenticated.user.sessionId : null;
    return versioned(await this.rules.update(caller, sessionId, change, ifMatch), reply);
  }
}

function versioned(rules: SecurityRules, reply: FastifyReply): SecurityRules {
  void reply.header('etag', `"${rules.version}"`);
  return rules;
}

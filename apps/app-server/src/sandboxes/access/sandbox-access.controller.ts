import { Controller, Header, Param } from '@nestjs/common';
import type { Authenticated } from '@slipway/auth';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type GrantSandboxAccess, type SandboxAccess, type SandboxAccessList } from '@slipway/contracts/sandboxes';
import { Body, Caller, Credential } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { watchedCredential } from '../../log/events/access-watch.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { SandboxAccessService } from './sandbox-access.service.js';

@Controller()
export class SandboxAccessController {
  constructor(private readonly access: SandboxAccessService) {}

  @Serves(operations.listSandboxAccess)
  list(@Caller() caller: Principal, @Param('conversation') id: string): Promise<SandboxAccessList> {
    return this.access.list(caller, conversationId(id));
  }

  @Serves(operations.grantSandboxAccess)
  @Header('cache-control', 'no-store')
  grant(
    @Caller() caller: Principal,
    @Credential() authenticated: Authenticated,
    @Param('conversation') id: string,
    @Body() body: GrantSandboxAccess,
  ): Promise<SandboxAccess> {
    return this.access.grant(caller, watchedCredential(authenticated), conversationId(id), body);
  }

  @Serves(operations.revokeSandboxAccess)
  revoke(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('access') access: string,
  ): Promise<void> {
    return this.access.revoke(caller, conversationId(id), access);
  }

  @Serves(operations.revokeAllSandboxAccess)
  revokeAll(@Caller() caller: Principal, @Param('conversation') id: string): Promise<void> {
    return this.access.revoke(caller, conversationId(id), null);
  }
}

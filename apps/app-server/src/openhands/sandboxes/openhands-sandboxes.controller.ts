import { Controller, Header, Headers, Param } from '@nestjs/common';
import type { Authenticated } from '@slipway/auth';
import {
  type Done,
  type GetSandboxesQuery,
  type SandboxInfo,
  type SandboxPage,
  type SandboxSecretNames,
  type SandboxUser,
  type SearchSandboxesQuery,
} from '@slipway/contracts/openhands';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Caller, Credential, Query, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { watchedCredential } from '../../log/events/access-watch.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { OpenHandsSandboxesService } from './openhands-sandboxes.service.js';
import { OwnAgentService } from './own-agent.service.js';

@Controller()
export class OpenHandsSandboxesController {
  constructor(
    private readonly sandboxes: OpenHandsSandboxesService,
    private readonly ownAgents: OwnAgentService,
  ) {}

  @Serves(operations.getSandboxUser)
  user(@Caller() caller: Principal): Promise<SandboxUser> {
    return this.ownAgents.user(caller);
  }

  @Serves(operations.listSandboxSecrets)
  secrets(
    @Headers('x-session-api-key') key: string | undefined,
    @Param('sandbox') id: string,
  ): Promise<SandboxSecretNames> {
    return this.ownAgents.secrets(key, conversationId(id));
  }

  @Serves(operations.startSandbox)
  @Header('cache-control', 'no-store')
  start(@Caller() caller: Principal, @ReservedId() id: string | undefined): Promise<SandboxInfo> {
    return this.sandboxes.start(caller, id);
  }

  @Serves(operations.getSandboxes)
  @Header('cache-control', 'no-store')
  get(
    @Caller() caller: Principal,
    @Credential() authenticated: Authenticated,
    @Query() { id }: GetSandboxesQuery,
  ): Promise<Array<SandboxInfo | null>> {
    return this.sandboxes.get(caller, watchedCredential(authenticated), id);
  }

  @Serves(operations.searchSandboxes)
  search(@Caller() caller: Principal, @Query() query: SearchSandboxesQuery): Promise<SandboxPage> {
    return this.sandboxes.search(caller, query);
  }

  @Serves(operations.pauseSandbox)
  async pause(@Caller() caller: Principal, @Param('sandbox') id: string): Promise<Done> {
    await this.sandboxes.pause(caller, conversationId(id));
    return { message: 'The sandbox is given back; its workspace is being saved.' };
  }

  @Serves(operations.resumeSandbox)
  async resume(@Caller() caller: Principal, @Param('sandbox') id: string): Promise<Done> {
    await this.sandboxes.resume(caller, conversationId(id));
    return { message: 'The sandbox starts.' };
  }

  @Serves(operations.deleteSandbox)
  async delete(@Caller() caller: Principal, @Param('sandbox') id: string): Promise<Done> {
    await this.sandboxes.delete(caller, conversationId(id));
    return { message: 'The sandbox is released, and all access ends.' };
  }
}

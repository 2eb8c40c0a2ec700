import { Controller, Param, Res } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { type LinkBegun } from '@slipway/contracts/identity';
import { type IntegrationConnection, type PendingAuthorization } from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import type { FastifyReply } from 'fastify';
import { Caller, User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { ConnectionsService } from '../connections.service.js';
import { AuthorizationsService } from './authorizations.service.js';

@Controller()
export class AuthorizationsController {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly connections: ConnectionsService,
  ) {}

  @Serves(operations.beginConnectionAuthorization)
  async begin(
    @Caller() caller: Principal,
    @User() user: SignedIn,
    @Param('connection') connection: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LinkBegun> {
    const { begun, cookie } = await this.authorizations.begin(caller, user, connection);
    void reply.header('set-cookie', cookie).header('cache-control', 'no-store');
    return begun;
  }

  @Serves(operations.getConnectionAuthorization)
  get(
    @Caller() caller: Principal,
    @User() user: SignedIn,
    @Param('connection') connection: string,
    @Param('authorization') id: string,
  ): Promise<PendingAuthorization> {
    return this.authorizations.get(caller, user, connection, id);
  }

  @Serves(operations.confirmConnectionAuthorization)
  confirm(
    @Caller() caller: Principal,
    @User() user: SignedIn,
    @Param('connection') connection: string,
    @Param('authorization') id: string,
  ): Promise<IntegrationConnection> {
    return this.authorizations.confirm(caller, user, connection, id);
  }

  @Serves(operations.declineConnectionAuthorization)
  decline(
    @Caller() caller: Principal,
    @User() user: SignedIn,
    @Param('connection') connection: string,
    @Param('authorization') id: string,
  ): Promise<void> {
    return this.authorizations.decline(caller, user, connection, id);
  }

  @Serves(operations.deleteConnectionCredential)
  disconnect(@Caller() caller: Principal, @Param('connection') id: string): Promise<void> {
    return this.connections.disconnect(caller, id);
  }
}

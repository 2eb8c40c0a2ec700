import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Authenticated, PrincipalService } from '@slipway/auth';
import type { Permission, Principal } from '@slipway/contracts/organizations';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import type { Socket } from 'socket.io';
import type { z } from 'zod';
import { SocketHandshake } from '../socket-handshake.js';
import type { SocketMessage } from './socket-message.js';

export const MESSAGE_CONTRACT = Symbol('message-contract');

export interface MessageContract {
  readonly body: z.ZodType<{ readonly orgId: string }>;
  /** Beside `conversation:read`, without which the organization is not there. */
  readonly permission: Permission;
}

/**
 * Reads a message by its schema, then authenticates its sender by the credential of the handshake, which may have ended
 * since, and authorizes them in the organization that it names.
 *
 * @throws SlipwayError `request.invalid`, `auth.missing`, `account.*`, `resource.not-found`, `permission.denied`
 */
@Injectable()
export class MessageGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly handshake: SocketHandshake,
    private readonly principals: PrincipalService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const contract = this.reflector.get<MessageContract>(MESSAGE_CONTRACT, context.getHandler());
    const message = context.switchToWs().getData<SocketMessage>();
    const body = parseOrThrow(contract.body, message.body);
    const authenticated = await this.handshake.authenticate(context.switchToWs().getClient<Socket>());
    this.principals.assertGatesPassed(authenticated);
    const principal = await this.principalIn(authenticated, body.orgId);
    if (!principal.permissions.has(contract.permission))
      throw new SlipwayError('permission.denied', `This needs the permission ${contract.permission}.`);
    message.body = body;
    message.sender = { authenticated, principal };
    return true;
  }

  /** The sender in an organization whose conversations they may read; any other is not there. */
  private async principalIn(authenticated: Authenticated, org: string): Promise<Principal> {
    const principal = this.principals.principalOf(await this.principals.upToDate(authenticated, org), org);
    if (!principal.permissions.has('conversation:read')) throw notFound();
    return principal;
  }
}

import { Controller, Header, Param } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { operations } from '@slipway/contracts/operations';
import {
  type CreateInvitations,
  type InvitationOutcomes,
  type InvitationPage,
  type InvitationPreview,
  type ListInvitationsQuery,
  type Org,
  type Principal,
  type SentInvitation,
} from '@slipway/contracts/organizations';
import { Body, Caller, MaybeUser, Query, User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId as uuidOf } from '../../log/events/conversation-id.js';
import { InvitationsService } from './invitations.service.js';

@Controller()
export class InvitationsController {
  constructor(private readonly invitations: InvitationsService) {}

  @Serves(operations.listInvitations)
  list(@Caller() caller: Principal, @Query() query: ListInvitationsQuery): Promise<InvitationPage> {
    return this.invitations.list(caller, query);
  }

  @Serves(operations.createInvitations)
  @Header('cache-control', 'no-store')
  create(@Caller() caller: Principal, @Body() body: CreateInvitations): Promise<InvitationOutcomes> {
    return this.invitations.create(caller, body);
  }

  @Serves(operations.resendInvitation)
  @Header('cache-control', 'no-store')
  resend(@Caller() caller: Principal, @Param('invitation') id: string): Promise<SentInvitation> {
    return this.invitations.resend(caller, uuidOf(id));
  }

  @Serves(operations.revokeInvitation)
  revoke(@Caller() caller: Principal, @Param('invitation') id: string): Promise<void> {
    return this.invitations.revoke(caller, uuidOf(id));
  }

  @Serves(operations.readInvitation)
  @Header('cache-control', 'no-store')
  read(@MaybeUser() user: SignedIn | null, @Param('token') token: string): Promise<InvitationPreview> {
    return this.invitations.read(user, token);
  }

  @Serves(operations.acceptInvitation)
  accept(@User() user: SignedIn, @Param('token') token: string): Promise<Org> {
    return this.invitations.accept(user, token);
  }
}

import { Controller, Header, Param } from '@nestjs/common';
import type { Authenticated, SignedIn } from '@slipway/auth';
import {
  type AcceptOrganizationInvitation,
  type CountOrganizationMembersQuery,
  type CreateOrganization,
  type Done,
  type InviteToOrganization,
  type ListOrganizationInvitationsQuery,
  type ListOrganizationMembersQuery,
  type Organization,
  type OrganizationInvitationPage,
  type OrganizationInvited,
  type OrganizationJoined,
  type OrganizationMe,
  type OrganizationMember,
  type OrganizationMemberPage,
  type OrganizationPage,
  type UpdateOrganization,
  type UpdateOrganizationMember,
} from '@slipway/contracts/openhands';
import { operations } from '@slipway/contracts/operations';
import { type Org, type Principal } from '@slipway/contracts/organizations';
import { notFound } from '@slipway/errors';
import { Body, Caller, Credential, Query, User } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { orgOfKey } from '../identity/me/me.controller.js';
import { conversationId as uuidOf } from '../log/events/conversation-id.js';
import { InvitationsService } from '../organizations/invitations/invitations.service.js';
import { userId } from '../organizations/members/members.controller.js';
import { MembersService } from '../organizations/members/members.service.js';
import { OrgsService } from '../organizations/orgs/orgs.service.js';
import { organizationInvitationOf, organizationMemberOf, organizationOf } from './openhands-names.js';

const NOT_INVITED = {
  'already-member': 'is a member already',
  'already-invited': 'has an invitation already',
  invalid: 'is no e-mail address',
} as const;

/** OpenHands' `/api/organizations`: its names for what the services of organizations, members and invitations do. */
@Controller()
export class OrganizationsController {
  constructor(
    private readonly orgs: OrgsService,
    private readonly members: MembersService,
    private readonly invitations: InvitationsService,
  ) {}

  @Serves(operations.listOrganizations)
  list(@Credential() authenticated: Authenticated): OrganizationPage {
    const orgs = orgsOf(authenticated);
    return { items: orgs.map(organizationOf), next_page_id: null, current_org_id: orgs[0]?.id ?? null };
  }

  @Serves(operations.createOrganization)
  async create(@User() user: SignedIn, @Body() { name }: CreateOrganization): Promise<Organization> {
    return organizationOf(await this.orgs.create(user, { name }));
  }

  @Serves(operations.getOrganization)
  get(@Credential() authenticated: Authenticated, @Caller() caller: Principal): Organization {
    return organizationOf(orgOf(authenticated, caller));
  }

  @Serves(operations.updateOrganization)
  async update(@Caller() caller: Principal, @Body() { name }: UpdateOrganization): Promise<Organization> {
    return organizationOf(await this.orgs.update(caller, { name }));
  }

  @Serves(operations.getOrganizationMe)
  me(@Credential() authenticated: Authenticated, @Caller() caller: Principal): OrganizationMe {
    const { id, role } = orgOf(authenticated, caller);
    const email = authenticated.kind === 'session' ? authenticated.user.email : authenticated.key.owner.email;
    return {
      org_id: id,
      user_id: caller.actor.id,
      email,
      role,
      permissions: [...caller.permissions],
      status: 'active',
    };
  }

  @Serves(operations.listOrganizationMembers)
  async listMembers(
    @Caller() caller: Principal,
    @Query() query: ListOrganizationMembersQuery,
  ): Promise<OrganizationMemberPage> {
    const { data, page } = await this.members.list(caller, {
      limit: query.limit,
      ...(query.page_id === undefined ? {} : { cursor: query.page_id }),
      ...(query.email === undefined ? {} : { search: query.email }),
    });
    return { items: data.map(organizationMemberOf), next_page_id: page.nextCursor };
  }

  @Serves(operations.countOrganizationMembers)
  countMembers(@Caller() caller: Principal, @Query() { email }: CountOrganizationMembersQuery): Promise<number> {
    return this.members.count(caller, email);
  }

  @Serves(operations.updateOrganizationMember)
  async updateMember(
    @Caller() caller: Principal,
    @Param('user') user: string,
    @Body() { role }: UpdateOrganizationMember,
  ): Promise<OrganizationMember> {
    return organizationMemberOf(await this.members.setRole(caller, userId(user), { role }));
  }

  @Serves(operations.removeOrganizationMember)
  async removeMember(@Caller() caller: Principal, @Param('user') user: string): Promise<Done> {
    await this.members.remove(caller, userId(user), { revokeKnownKeys: 'false' });
    return { message: 'The member is removed.' };
  }

  @Serves(operations.listOrganizationInvitations)
  async listInvitations(
    @Caller() caller: Principal,
    @Query() query: ListOrganizationInvitationsQuery,
  ): Promise<OrganizationInvitationPage> {
    const { data, page } = await this.invitations.list(caller, {
      limit: query.limit,
      ...(query.page_id === undefined ? {} : { cursor: query.page_id }),
    });
    return { items: data.map(organizationInvitationOf), next_page_id: page.nextCursor };
  }

  @Serves(operations.inviteToOrganization)
  @Header('cache-control', 'no-store')
  async invite(@Caller() caller: Principal, @Body() body: InviteToOrganization): Promise<OrganizationInvited> {
    const { data } = await this.invitations.create(caller, body);
    return {
      successful: data.flatMap(({ outcome, invitation, link }) =>
        outcome === 'invited' && invitation !== null ? [{ ...organizationInvitationOf(invitation), link }] : [],
      ),
      failed: data.flatMap(({ email, outcome }) =>
        outcome === 'invited' ? [] : [{ email, error: NOT_INVITED[outcome] }],
      ),
    };
  }

  @Serves(operations.revokeOrganizationInvitation)
  async revokeInvitation(@Caller() caller: Principal, @Param('invitation') id: string): Promise<Done> {
    await this.invitations.revoke(caller, uuidOf(id));
    return { message: 'The invitation is revoked.' };
  }

  @Serves(operations.acceptOrganizationInvitation)
  async accept(@User() user: SignedIn, @Body() { token }: AcceptOrganizationInvitation): Promise<OrganizationJoined> {
    const { id, name, role } = await this.invitations.accept(user, token);
    return { success: true, org_id: id, org_name: name, role };
  }
}

function orgsOf(authenticated: Authenticated): readonly Org[] {
  return authenticated.kind === 'session' ? authenticated.user.orgs : [orgOfKey(authenticated.key)];
}

function orgOf(authenticated: Authenticated, { orgId }: Principal): Org {
  const org = orgsOf(authenticated).find(({ id }) => id === orgId);
  if (org === undefined) throw notFound();
  return org;
}

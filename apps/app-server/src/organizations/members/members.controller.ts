import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import {
  type ListMembersQuery,
  type Member,
  type MemberPage,
  type MemberRemoval,
  type Principal,
  type RemoveMemberQuery,
  type UpdateMember,
} from '@slipway/contracts/organizations';
import { notFound } from '@slipway/errors';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { MembersService } from './members.service.js';

@Controller()
export class MembersController {
  constructor(private readonly members: MembersService) {}

  @Serves(operations.listMembers)
  list(@Caller() caller: Principal, @Query() query: ListMembersQuery): Promise<MemberPage> {
    return this.members.list(caller, query);
  }

  @Serves(operations.getMember)
  get(@Caller() caller: Principal, @Param('user') user: string): Promise<Member> {
    return this.members.get(caller, userId(user));
  }

  @Serves(operations.updateMember)
  setRole(@Caller() caller: Principal, @Param('user') user: string, @Body() body: UpdateMember): Promise<Member> {
    return this.members.setRole(caller, userId(user), body);
  }

  @Serves(operations.previewMemberRemoval)
  preview(@Caller() caller: Principal, @Param('user') user: string): Promise<MemberRemoval> {
    return this.members.preview(caller, userId(user));
  }

  @Serves(operations.removeMember)
  remove(
    @Caller() caller: Principal,
    @Param('user') user: string,
    @Query() query: RemoveMemberQuery,
  ): Promise<MemberRemoval> {
    return this.members.remove(caller, userId(user), query);
  }
}

/** @throws SlipwayError `resource.not-found` for what cannot be an id: the answer of a missing one. */
export function userId(text: string): string {
  if (!/^\w{1,100}$/.test(text)) throw notFound();
  return text;
}

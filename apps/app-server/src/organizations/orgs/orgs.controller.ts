import { Controller } from '@nestjs/common';
import type { SignedIn } from '@slipway/auth';
import { operations } from '@slipway/contracts/operations';
import {
  type CreateOrg,
  type DeleteOrg,
  type MemberRemoval,
  type Org,
  type OrgList,
  type Principal,
  type TransferOrg,
  type UpdateOrg,
} from '@slipway/contracts/organizations';
import { Body, Caller, User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { MembersService } from '../members/members.service.js';
import { OrgsService } from './orgs.service.js';

@Controller()
export class OrgsController {
  constructor(
    private readonly orgs: OrgsService,
    private readonly members: MembersService,
  ) {}

  @Serves(operations.listOrgs)
  list(@User() user: SignedIn): OrgList {
    return { data: [...user.orgs], page: { nextCursor: null } };
  }

  @Serves(operations.createOrg)
  create(@User() user: SignedIn, @Body() body: CreateOrg): Promise<Org> {
    return this.orgs.create(user, body);
  }

  @Serves(operations.updateOrg)
  update(@Caller() caller: Principal, @Body() body: UpdateOrg): Promise<Org> {
    return this.orgs.update(caller, body);
  }

  @Serves(operations.leaveOrg)
  leave(@Caller() caller: Principal): Promise<MemberRemoval> {
    return this.members.leave(caller);
  }

  @Serves(operations.transferOrg)
  transfer(@Caller() caller: Principal, @Body() body: TransferOrg): Promise<Org> {
    return this.orgs.transfer(caller, body.userId);
  }

  @Serves(operations.deleteOrg)
  delete(@Caller() caller: Principal, @Body() body: DeleteOrg): Promise<Org> {
    return this.orgs.delete(caller, body.confirm);
  }

  @Serves(operations.restoreOrg)
  restore(@Caller() caller: Principal): Promise<Org> {
    return this.orgs.restore(caller);
  }
}

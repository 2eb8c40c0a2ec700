import { Controller, Param } from '@nestjs/common';
import { type PageQuery } from '@slipway/contracts/conversations';
import { type ChangeServiceAccount, type CreateServiceAccount, type ServiceAccount } from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import type { z } from 'zod';
import { Body, Caller, Query, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { ServiceAccountsService } from './service-accounts.service.js';

@Controller()
export class ServiceAccountsController {
  constructor(private readonly accounts: ServiceAccountsService) {}

  @Serves(operations.listServiceAccounts)
  list(
    @Caller() caller: Principal,
    @Query() query: z.output<typeof PageQuery>,
  ): Promise<{ data: ServiceAccount[]; page: { nextCursor: string | null } }> {
    return this.accounts.list(caller, query);
  }

  @Serves(operations.createServiceAccount)
  create(
    @Caller() caller: Principal,
    @Body() body: CreateServiceAccount,
    @ReservedId() reservedId: string | undefined,
  ): Promise<ServiceAccount> {
    return this.accounts.create(caller, body, reservedId);
  }

  @Serves(operations.getServiceAccount)
  get(@Caller() caller: Principal, @Param('account') account: string): Promise<ServiceAccount> {
    return this.accounts.get(caller, account);
  }

  @Serves(operations.changeServiceAccount)
  change(
    @Caller() caller: Principal,
    @Param('account') account: string,
    @Body() body: ChangeServiceAccount,
  ): Promise<ServiceAccount> {
    return this.accounts.change(caller, account, body);
  }

  @Serves(operations.deleteServiceAccount)
  remove(@Caller() caller: Principal, @Param('account') account: string): Promise<void> {
    return this.accounts.remove(caller, account);
  }
}

import { Controller, Param } from '@nestjs/common';
import {
  type InstallIntegrationHook,
  type IntegrationHook,
  type IntegrationHookList,
  type SelectIntegrationHooks,
} from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { HooksService } from './hooks.service.js';

@Controller()
export class HooksController {
  constructor(private readonly hooks: HooksService) {}

  @Serves(operations.listIntegrationHooks)
  list(@Caller() caller: Principal, @Param('connection') connection: string): Promise<IntegrationHookList> {
    return this.hooks.list(caller, connection);
  }

  @Serves(operations.installIntegrationHook)
  install(
    @Caller() caller: Principal,
    @Param('connection') connection: string,
    @Body() body: InstallIntegrationHook,
  ): Promise<IntegrationHook> {
    return this.hooks.install(caller, connection, body);
  }

  @Serves(operations.selectIntegrationHooks)
  select(
    @Caller() caller: Principal,
    @Param('connection') connection: string,
    @Body() body: SelectIntegrationHooks,
  ): Promise<IntegrationHookList> {
    return this.hooks.select(caller, connection, body);
  }

  @Serves(operations.repairIntegrationHooks)
  repair(@Caller() caller: Principal, @Param('connection') connection: string): Promise<IntegrationHookList> {
    return this.hooks.repair(caller, connection);
  }

  @Serves(operations.removeIntegrationHook)
  remove(
    @Caller() caller: Principal,
    @Param('connection') connection: string,
    @Param('hook') hook: string,
  ): Promise<void> {
    return this.hooks.remove(caller, connection, hook);
  }
}

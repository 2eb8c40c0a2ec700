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
import { HookInstallationService } from './hook-installation.service.js';
import { HookSelectionService } from './hook-selection.service.js';

@Controller()
export class HooksController {
  constructor(
    private readonly selection: HookSelectionService,
    private readonly installation: HookInstallationService,
  ) {}

  @Serves(operations.listIntegrationHooks)
  list(@Caller() caller: Principal, @Param('connection') connection: string): Promise<IntegrationHookList> {
    return this.selection.list(caller, connection);
  }

  @Serves(operations.installIntegrationHook)
  install(
    @Caller() caller: Principal,
    @Param('connection') connection: string,
    @Body() body: InstallIntegrationHook,
  ): Promise<IntegrationHook> {
    return this.installation.install(caller, connection, body);
  }

  @Serves(operations.selectIntegrationHooks)
  select(
    @Caller() caller: Principal,
    @Param('connection') connection: string,
    @Body() body: SelectIntegrationHooks,
  ): Promise<IntegrationHookList> {
    return this.selection.select(caller, connection, body);
  }

  @Serves(operations.repairIntegrationHooks)
  repair(@Caller() caller: Principal, @Param('connection') connection: string): Promise<IntegrationHookList> {
    return this.selection.repair(caller, connection);
  }

  @Serves(operations.removeIntegrationHook)
  remove(
    @Caller() caller: Principal,
    @Param('connection') connection: string,
    @Param('hook') hook: string,
  ): Promise<void> {
    return this.installation.remove(caller, connection, hook);
  }
}

import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type LiveSandbox, type SandboxFleet, type SandboxQueue } from '@slipway/contracts/sandboxes';
import { Caller, Query } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { SandboxesService } from './sandboxes.service.js';

@Controller()
export class SandboxesController {
  constructor(private readonly sandboxes: SandboxesService) {}

  @Serves(operations.listSandboxes)
  list(
    @Caller() caller: Principal,
    @Query() query: { state?: LiveSandbox['state']; owner?: string },
  ): Promise<SandboxFleet> {
    return this.sandboxes.list(caller, query);
  }

  @Serves(operations.getSandboxQueue)
  queue(@Caller() caller: Principal): Promise<SandboxQueue> {
    return this.sandboxes.queue(caller);
  }

  @Serves(operations.stopSandbox)
  stop(@Caller() caller: Principal, @Param('sandbox') id: string): Promise<void> {
    return this.sandboxes.stop(caller, id);
  }
}

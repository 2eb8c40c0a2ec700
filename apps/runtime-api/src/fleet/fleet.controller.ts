import { Controller, Get, Inject, UseGuards } from '@nestjs/common';
import type { RuntimeFleet, RuntimeQueue } from '@slipway/contracts/sandboxes';
import { ApiKeyGuard, OrgId } from '../sessions/api-key.guard.js';
import { FleetService } from './fleet.service.js';

/** Not OpenHands': what app-server shows the admins of one organization. */
@Controller()
@UseGuards(ApiKeyGuard)
export class FleetController {
  constructor(@Inject(FleetService) private readonly fleets: FleetService) {}

  @Get('fleet')
  fleet(@OrgId() orgId: string): Promise<RuntimeFleet> {
    return this.fleets.fleet(orgId);
  }

  @Get('queue')
  queue(@OrgId() orgId: string): Promise<RuntimeQueue> {
    return this.fleets.queue(orgId);
  }
}

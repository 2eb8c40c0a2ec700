import { Module } from '@nestjs/common';
import { EgressController } from './egress.controller.js';
import { EgressControl } from './egress-control.js';
import { EgressDecisionsService } from './egress-decisions.service.js';
import { EgressRequestsService } from './egress-requests.service.js';
import { EgressRulesService } from './egress-rules.service.js';

@Module({
  controllers: [EgressController],
  providers: [EgressControl, EgressDecisionsService, EgressRequestsService, EgressRulesService],
})
export class EgressModule {}

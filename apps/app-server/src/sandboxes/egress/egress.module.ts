import { Module } from '@nestjs/common';
import { AnswerUseService } from '../credential-uses/answer-use.service.js';
import { CredentialUsesService } from '../credential-uses/credential-uses.service.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { BrokerControl } from './broker-control.js';
import { EgressController } from './egress.controller.js';
import { EgressBodiesService } from './egress-bodies.service.js';
import { EgressBudgetService } from './egress-budget.service.js';
import { EgressControl } from './egress-control.js';
import { EgressDecisionsService } from './egress-decisions.service.js';
import { EgressRequestsService } from './egress-requests.service.js';
import { EgressRulesService } from './egress-rules.service.js';
import { EgressTalliesService } from './egress-tallies.service.js';
import { EgressTrafficService } from './egress-traffic.service.js';
import { EgressTrialService } from './egress-trial.service.js';
import { ObservedHostsService } from './observed-hosts.service.js';
import { WorkspacePrintsService } from './workspace-prints.service.js';

@Module({
  imports: [CredentialsModule],
  controllers: [EgressController],
  providers: [
    AnswerUseService,
    BrokerControl,
    CredentialUsesService,
    EgressBodiesService,
    EgressBudgetService,
    EgressControl,
    EgressDecisionsService,
    EgressRequestsService,
    EgressRulesService,
    EgressTalliesService,
    EgressTrafficService,
    EgressTrialService,
    ObservedHostsService,
    WorkspacePrintsService,
  ],
})
export class EgressModule {}

import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import type {
  AnswerEgressRequest,
  CreatedEgressRules,
  CreateEgressRule,
  CreateEgressRules,
  EgressRequest,
  EgressRequestList,
  EgressRule,
  EgressRuleList,
  EgressTopHosts,
  EgressTraffic,
  EgressTrial,
  ObservedHostList,
  TryEgressRule,
} from '@slipway/contracts/sandboxes';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { EgressRequestsService } from './egress-requests.service.js';
import { EgressRulesService } from './egress-rules.service.js';
import { EgressTrafficService } from './egress-traffic.service.js';
import { EgressTrialService } from './egress-trial.service.js';
import { ObservedHostsService } from './observed-hosts.service.js';

@Controller()
export class EgressController {
  constructor(
    private readonly rules: EgressRulesService,
    private readonly requests: EgressRequestsService,
    private readonly observed: ObservedHostsService,
    private readonly traffic: EgressTrafficService,
    private readonly trial: EgressTrialService,
  ) {}

  @Serves(operations.listEgressRules)
  listRules(@Caller() caller: Principal): Promise<EgressRuleList> {
    return this.rules.list(caller);
  }

  @Serves(operations.createEgressRule)
  createRule(@Caller() caller: Principal, @Body() body: CreateEgressRule): Promise<EgressRule> {
    return this.rules.create(caller, body);
  }

  @Serves(operations.createEgressRules)
  createRules(@Caller() caller: Principal, @Body() body: CreateEgressRules): Promise<CreatedEgressRules> {
    return this.rules.createAll(caller, body);
  }

  @Serves(operations.tryEgressRule)
  tryRule(@Caller() caller: Principal, @Body() body: TryEgressRule): Promise<EgressTrial> {
    return this.trial.try(caller, body);
  }

  @Serves(operations.deleteEgressRule)
  deleteRule(@Caller() caller: Principal, @Param('rule') id: string): Promise<void> {
    return this.rules.delete(caller, id);
  }

  @Serves(operations.listObservedHosts)
  listObserved(@Caller() caller: Principal): Promise<ObservedHostList> {
    return this.observed.list(caller);
  }

  @Serves(operations.listTopHosts)
  listTopHosts(@Caller() caller: Principal): Promise<EgressTopHosts> {
    return this.traffic.topHosts(caller);
  }

  @Serves(operations.getEgressTraffic)
  getTraffic(@Caller() caller: Principal, @Param('conversation') id: string): Promise<EgressTraffic> {
    return this.traffic.ofConversation(caller, conversationId(id));
  }

  @Serves(operations.listEgressRequests)
  listRequests(@Caller() caller: Principal, @Param('conversation') id: string): Promise<EgressRequestList> {
    return this.requests.list(caller, conversationId(id));
  }

  @Serves(operations.answerEgressRequest)
  answer(
    @Caller() caller: Principal,
    @Param('conversation') conversation: string,
    @Param('request') id: string,
    @Body() body: AnswerEgressRequest,
  ): Promise<EgressRequest> {
    return this.requests.answer(caller, { conversationId: conversationId(conversation), id }, body);
  }
}

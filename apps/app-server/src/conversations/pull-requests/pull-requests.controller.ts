import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type FixPullRequest,
  type MergePullRequest,
  type PublishPullRequest,
  type PullRequest,
  type PullRequestChecks,
  type PullRequestList,
} from '@slipway/contracts/repositories';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { PullRequestsService } from './pull-requests.service.js';

@Controller()
export class PullRequestsController {
  constructor(private readonly pullRequests: PullRequestsService) {}

  @Serves(operations.publishPullRequest)
  publish(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: PublishPullRequest,
  ): Promise<PullRequest> {
    return this.pullRequests.publish(caller, conversationId(id), body);
  }

  @Serves(operations.listPullRequests)
  list(@Caller() caller: Principal, @Param('conversation') id: string): Promise<PullRequestList> {
    return this.pullRequests.list(caller, conversationId(id));
  }

  @Serves(operations.listPullRequestChecks)
  checks(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('number') number: string,
  ): Promise<PullRequestChecks> {
    return this.pullRequests.checks(caller, conversationId(id), number);
  }

  @Serves(operations.fixPullRequest)
  fix(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('number') number: string,
    @Body() body: FixPullRequest,
  ): Promise<PullRequest> {
    return this.pullRequests.fix(caller, conversationId(id), number, body);
  }

  @Serves(operations.mergePullRequest)
  merge(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('number') number: string,
    @Body() body: MergePullRequest,
  ): Promise<PullRequest> {
    return this.pullRequests.merge(caller, conversationId(id), number, body);
  }
}

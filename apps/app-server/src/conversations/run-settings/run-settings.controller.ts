import { Controller, Param } from '@nestjs/common';
import {
  type AskConversation,
  type CarryOutPlan,
  type ConfirmationRuleList,
  type Conversation,
  type ConversationAnswer,
  type QueuedMessage,
  type RevokeConfirmationRule,
  type UpdateRunSettings,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { ConversationsService } from '../conversations.service.js';
import { BesideTheTaskService } from './beside-the-task.service.js';
import { RunSettingsService } from './run-settings.service.js';

@Controller()
export class RunSettingsController {
  constructor(
    private readonly runSettings: RunSettingsService,
    private readonly beside: BesideTheTaskService,
    private readonly conversations: ConversationsService,
  ) {}

  @Serves(operations.updateRunSettings)
  async update(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: UpdateRunSettings,
  ): Promise<Conversation> {
    await this.runSettings.change(caller, conversationId(id), body);
    return this.conversations.get(caller, conversationId(id));
  }

  /** For pages of the release before. Goes in 0.2.0. */
  @Serves(operations.updateRunSettings, { path: '/api/v1/orgs/{org}/conversations/{conversation}/terms' })
  updateAsBefore(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: UpdateRunSettings,
  ): Promise<Conversation> {
    return this.update(caller, id, body);
  }

  @Serves(operations.carryOutPlan)
  carryOut(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: CarryOutPlan,
    @ReservedId() messageId: string | undefined,
  ): Promise<QueuedMessage> {
    return this.runSettings.carryOut(caller, conversationId(id), body, messageId);
  }

  @Serves(operations.condenseConversation)
  async condense(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Conversation> {
    await this.beside.condense(caller, conversationId(id));
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.askConversation)
  async ask(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() { question }: AskConversation,
  ): Promise<ConversationAnswer> {
    return { answer: await this.beside.ask(caller, conversationId(id), question) };
  }

  @Serves(operations.listConfirmationRules)
  async rules(@Caller() caller: Principal, @Param('conversation') id: string): Promise<ConfirmationRuleList> {
    return { data: await this.beside.rules(caller, conversationId(id)) };
  }

  @Serves(operations.revokeConfirmationRule)
  async revoke(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: RevokeConfirmationRule,
  ): Promise<ConfirmationRuleList> {
    return { data: await this.beside.revoke(caller, conversationId(id), body) };
  }
}

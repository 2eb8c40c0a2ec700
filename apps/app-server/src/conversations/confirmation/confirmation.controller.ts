import { Controller, Param } from '@nestjs/common';
import { type AnswerConfirmation, type Conversation, type SetConfirmationMode } from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { ConversationsService } from '../conversations.service.js';
import { ConfirmationService } from './confirmation.service.js';

@Controller()
export class ConfirmationController {
  constructor(
    private readonly confirmation: ConfirmationService,
    private readonly conversations: ConversationsService,
  ) {}

  @Serves(operations.answerConfirmation)
  async answer(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: AnswerConfirmation,
  ): Promise<Conversation> {
    await this.confirmation.answer(caller, conversationId(id), body);
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.setConfirmationMode)
  async setMode(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() { mode }: SetConfirmationMode,
  ): Promise<Conversation> {
    await this.confirmation.setMode(caller, conversationId(id), mode);
    return this.conversations.get(caller, conversationId(id));
  }
}

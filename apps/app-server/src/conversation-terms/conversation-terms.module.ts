import { Module } from '@nestjs/common';
import { AgentSettingsModule } from '../agent-settings/agent-settings.module.js';
import { ConversationsModule } from '../conversations/conversations.module.js';
import { BesideTheTaskService } from './beside-the-task.service.js';
import { ChargePassesService } from './charge-passes.service.js';
import { ConversationSpendingService } from './conversation-spending.js';
import { ConversationTermsController } from './conversation-terms.controller.js';
import { ConversationTermsService } from './conversation-terms.service.js';

@Module({
  imports: [AgentSettingsModule, ConversationsModule],
  controllers: [ConversationTermsController],
  providers: [ConversationTermsService, ConversationSpendingService, BesideTheTaskService, ChargePassesService],
})
export class ConversationTermsModule {}

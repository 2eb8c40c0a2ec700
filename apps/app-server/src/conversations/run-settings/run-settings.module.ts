import { Module } from '@nestjs/common';
import { AgentSettingsModule } from '../agent-settings/agent-settings.module.js';
import { ConversationsModule } from '../conversations.module.js';
import { BesideTheTaskService } from './beside-the-task.service.js';
import { ChargePassesService } from './charge-passes.service.js';
import { ConversationSpendingService } from './conversation-spending.js';
import { RunSettingsController } from './run-settings.controller.js';
import { RunSettingsService } from './run-settings.service.js';

@Module({
  imports: [AgentSettingsModule, ConversationsModule],
  controllers: [RunSettingsController],
  providers: [RunSettingsService, ConversationSpendingService, BesideTheTaskService, ChargePassesService],
})
export class RunSettingsModule {}

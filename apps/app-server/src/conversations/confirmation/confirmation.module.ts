import { Module } from '@nestjs/common';
import { AgentSettingsModule } from '../agent-settings/agent-settings.module.js';
import { ConversationsModule } from '../conversations.module.js';
import { ConfirmationController } from './confirmation.controller.js';
import { ConfirmationService } from './confirmation.service.js';

@Module({
  imports: [AgentSettingsModule, ConversationsModule],
  controllers: [ConfirmationController],
  providers: [ConfirmationService],
  exports: [ConfirmationService],
})
export class ConfirmationModule {}

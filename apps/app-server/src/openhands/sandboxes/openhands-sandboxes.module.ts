import { Module } from '@nestjs/common';
import { ConversationsModule } from '../../conversations/conversations.module.js';
import { MeModule } from '../../identity/me/me.module.js';
import { SandboxAccessModule } from '../../sandboxes/access/sandbox-access.module.js';
import { OpenHandsSandboxesController } from './openhands-sandboxes.controller.js';
import { OpenHandsSandboxesService } from './openhands-sandboxes.service.js';
import { OwnAgentService } from './own-agent.service.js';

@Module({
  imports: [ConversationsModule, MeModule, SandboxAccessModule],
  controllers: [OpenHandsSandboxesController],
  providers: [OpenHandsSandboxesService, OwnAgentService],
})
export class OpenHandsSandboxesModule {}

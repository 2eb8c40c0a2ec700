import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module.js';
import { SandboxAccessModule } from '../sandbox-access/sandbox-access.module.js';
import { OpenHandsSandboxesController } from './openhands-sandboxes.controller.js';
import { OpenHandsSandboxesService } from './openhands-sandboxes.service.js';

@Module({ imports: [ConversationsModule, SandboxAccessModule], controllers: [OpenHandsSandboxesController], providers: [OpenHandsSandboxesService] })
export class OpenHandsSandboxesModule {}

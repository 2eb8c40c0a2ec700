import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module.js';
import { SandboxesController } from './sandboxes.controller.js';
import { SandboxesService } from './sandboxes.service.js';

@Module({ imports: [ConversationsModule], controllers: [SandboxesController], providers: [SandboxesService] })
export class SandboxesModule {}

import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module.js';
import { ConfirmationController } from './confirmation.controller.js';
import { ConfirmationService } from './confirmation.service.js';

@Module({ imports: [ConversationsModule], controllers: [ConfirmationController], providers: [ConfirmationService], exports: [ConfirmationService] })
export class ConfirmationModule {}

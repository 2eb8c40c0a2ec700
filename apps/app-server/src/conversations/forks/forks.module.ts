import { Module } from '@nestjs/common';
import { IngestModule } from '../../log/ingest/ingest.module.js';
import { ConversationsModule } from '../conversations.module.js';
import { ForksController } from './forks.controller.js';
import { ForksService } from './forks.service.js';

@Module({ imports: [ConversationsModule, IngestModule], controllers: [ForksController], providers: [ForksService] })
export class ForksModule {}

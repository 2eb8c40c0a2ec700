import { Module } from '@nestjs/common';
import { LlmProfilesController } from './llm-profiles.controller.js';
import { LlmProfilesService } from './llm-profiles.service.js';

@Module({ controllers: [LlmProfilesController], providers: [LlmProfilesService] })
export class LlmProfilesModule {}

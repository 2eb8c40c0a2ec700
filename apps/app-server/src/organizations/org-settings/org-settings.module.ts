import { Module } from '@nestjs/common';
import { PromptLogModule } from '../../agents/prompt-log/prompt-log.module.js';
import { MeModule } from '../../identity/me/me.module.js';
import { OrgSettingsController } from './org-settings.controller.js';
import { OrgSettingsService } from './org-settings.service.js';

@Module({ imports: [MeModule, PromptLogModule], controllers: [OrgSettingsController], providers: [OrgSettingsService] })
export class OrgSettingsModule {}

import { Module } from '@nestjs/common';
import { MeModule } from '../me/me.module.js';
import { PromptLogModule } from '../prompt-log/prompt-log.module.js';
import { OrgSettingsController } from './org-settings.controller.js';
import { OrgSettingsService } from './org-settings.service.js';

@Module({ imports: [MeModule, PromptLogModule], controllers: [OrgSettingsController], providers: [OrgSettingsService] })
export class OrgSettingsModule {}

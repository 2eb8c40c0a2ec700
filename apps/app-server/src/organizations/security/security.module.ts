import { Module } from '@nestjs/common';
import { MemberSessionsController } from './member-sessions.controller.js';
import { MemberSessionsService } from './member-sessions.service.js';
import { SecurityRulesController } from './security-rules.controller.js';
import { SecurityRulesService } from './security-rules.service.js';

@Module({
  controllers: [SecurityRulesController, MemberSessionsController],
  providers: [SecurityRulesService, MemberSessionsService],
})
export class SecurityModule {}

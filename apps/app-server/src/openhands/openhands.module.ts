import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../identity/api-keys/api-keys.module.js';
import { InvitationsModule } from '../organizations/invitations/invitations.module.js';
import { MembersModule } from '../organizations/members/members.module.js';
import { OrgsModule } from '../organizations/orgs/orgs.module.js';
import { OrganizationsController } from './organizations.controller.js';
import { ProgramKeysController } from './program-keys.controller.js';

@Module({
  imports: [OrgsModule, MembersModule, InvitationsModule, ApiKeysModule],
  controllers: [OrganizationsController, ProgramKeysController],
})
export class OpenHandsModule {}

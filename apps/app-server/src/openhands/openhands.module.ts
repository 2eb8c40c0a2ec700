import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { InvitationsModule } from '../invitations/invitations.module.js';
import { MembersModule } from '../members/members.module.js';
import { OrgsModule } from '../orgs/orgs.module.js';
import { OrganizationsController } from './organizations.controller.js';
import { ProgramKeysController } from './program-keys.controller.js';

@Module({ imports: [OrgsModule, MembersModule, InvitationsModule, ApiKeysModule], controllers: [OrganizationsController, ProgramKeysController] })
export class OpenHandsModule {}

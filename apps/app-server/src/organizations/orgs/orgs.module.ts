import { Module } from '@nestjs/common';
import { MembersModule } from '../members/members.module.js';
import { OrgsController } from './orgs.controller.js';
import { OrgsService } from './orgs.service.js';

@Module({ imports: [MembersModule], controllers: [OrgsController], providers: [OrgsService], exports: [OrgsService] })
export class OrgsModule {}

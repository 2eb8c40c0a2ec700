import { Module } from '@nestjs/common';
import { MeModule } from '../me/me.module.js';
import { AccountController } from './account.controller.js';
import { AccountService } from './account.service.js';
import { ConnectionsController } from './connections.controller.js';

@Module({ imports: [MeModule], controllers: [AccountController, ConnectionsController], providers: [AccountService] })
export class AccountModule {}

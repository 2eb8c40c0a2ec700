import { Module } from '@nestjs/common';
import { ServiceAccountsController } from './service-accounts.controller.js';
import { ServiceAccountsService } from './service-accounts.service.js';

@Module({ controllers: [ServiceAccountsController], providers: [ServiceAccountsService] })
export class ServiceAccountsModule {}

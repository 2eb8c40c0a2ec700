import { Module } from '@nestjs/common';
import { CredentialsController } from './credentials.controller.js';
import { CredentialsService } from './credentials.service.js';
import { OpenCredentialsService } from './open-credentials.service.js';

@Module({
  controllers: [CredentialsController],
  providers: [CredentialsService, OpenCredentialsService],
  exports: [OpenCredentialsService],
})
export class CredentialsModule {}

import { Module } from '@nestjs/common';
import { WorkloadIdentityModule } from '../identity/workload-identity.module.js';
import { CredentialsController } from './credentials.controller.js';
import { CredentialsService } from './credentials.service.js';
import { OpenCredentialsService } from './open-credentials.service.js';
import { RefreshTokensService } from './refresh-tokens.service.js';
import { UseTalliesService } from './use-tallies.service.js';

@Module({
  imports: [WorkloadIdentityModule],
  controllers: [CredentialsController],
  providers: [CredentialsService, OpenCredentialsService, RefreshTokensService, UseTalliesService],
  exports: [OpenCredentialsService, RefreshTokensService, UseTalliesService],
})
export class CredentialsModule {}

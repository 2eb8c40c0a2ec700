import { Module } from '@nestjs/common';
import { WorkloadIdentityController } from './workload-identity.controller.js';
import { WorkloadIdentityService } from './workload-identity.service.js';

@Module({
  controllers: [WorkloadIdentityController],
  providers: [WorkloadIdentityService],
  exports: [WorkloadIdentityService],
})
export class WorkloadIdentityModule {}

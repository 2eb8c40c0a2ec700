import { Module } from '@nestjs/common';
import { SandboxAccessController } from './sandbox-access.controller.js';
import { SandboxAccessService } from './sandbox-access.service.js';

@Module({ controllers: [SandboxAccessController], providers: [SandboxAccessService], exports: [SandboxAccessService] })
export class SandboxAccessModule {}

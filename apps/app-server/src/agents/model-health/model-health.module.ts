import { Module } from '@nestjs/common';
import { ModelHealthController } from './model-health.controller.js';
import { ModelHealthService } from './model-health.service.js';

@Module({ controllers: [ModelHealthController], providers: [ModelHealthService] })
export class ModelHealthModule {}

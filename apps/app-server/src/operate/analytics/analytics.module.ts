import { Module } from '@nestjs/common';
import { AnalyticsController } from './analytics.controller.js';
import { AnalyticsService } from './analytics.service.js';
import { FlagsModule } from './flags.module.js';

@Module({ imports: [FlagsModule], controllers: [AnalyticsController], providers: [AnalyticsService] })
export class AnalyticsModule {}

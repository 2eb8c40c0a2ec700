import { Module } from '@nestjs/common';
import { FlagsModule } from '../../operate/analytics/flags.module.js';
import { MeController } from './me.controller.js';
import { MeService } from './me.service.js';
import { ModelsService } from './models.service.js';

@Module({
  imports: [FlagsModule],
  controllers: [MeController],
  providers: [MeService, ModelsService],
  exports: [MeService, ModelsService],
})
export class MeModule {}

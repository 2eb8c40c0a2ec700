import { Module } from '@nestjs/common';
import { MeController } from './me.controller.js';
import { ModelsService } from './models.service.js';

@Module({ controllers: [MeController], providers: [ModelsService], exports: [ModelsService] })
export class MeModule {}

import { Module } from '@nestjs/common';
import { CallbacksController } from './callbacks.controller.js';
import { ThreadAnswersService } from './thread-answers.service.js';

@Module({ controllers: [CallbacksController], providers: [ThreadAnswersService] })
export class CallbacksModule {}

import { Module } from '@nestjs/common';
import { LookupController } from './lookup.controller.js';

@Module({ controllers: [LookupController] })
export class LookupModule {}

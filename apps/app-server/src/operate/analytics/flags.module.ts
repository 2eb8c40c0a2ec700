import { Module } from '@nestjs/common';
import { FlagsService } from './flags.service.js';

@Module({ providers: [FlagsService], exports: [FlagsService] })
export class FlagsModule {}

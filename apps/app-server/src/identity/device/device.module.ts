import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { DeviceController } from './device.controller.js';
import { DeviceService } from './device.service.js';

@Module({ imports: [ApiKeysModule], controllers: [DeviceController], providers: [DeviceService] })
export class DeviceModule {}

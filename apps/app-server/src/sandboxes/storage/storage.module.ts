import { Module } from '@nestjs/common';
import { StorageController } from './storage.controller.js';
import { StorageService } from './storage.service.js';
import { StorageMails } from './storage-mails.js';

@Module({ controllers: [StorageController], providers: [StorageService, StorageMails] })
export class StorageModule {}

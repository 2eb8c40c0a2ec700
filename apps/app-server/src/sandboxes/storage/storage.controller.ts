import { Controller } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type Storage } from '@slipway/contracts/sandboxes';
import { Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { StorageService } from './storage.service.js';

@Controller()
export class StorageController {
  constructor(private readonly storage: StorageService) {}

  @Serves(operations.getStorage)
  get(@Caller() caller: Principal): Promise<Storage> {
    return this.storage.get(caller);
  }
}

import { Controller, Param } from '@nestjs/common';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { type Storage } from '@slipway/contracts/sandboxes';
import { Caller } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { StorageService } from './storage.service.js';

@Controller()
export class StorageController {
  constructor(private readonly storage: StorageService) {}

  @Serves(operations.getStorage)
  get(@Caller() caller: Principal): Promise<Storage> {
    return this.storage.get(caller);
  }

  @Serves(operations.deleteConversation)
  delete(@Caller() caller: Principal, @Param('conversation') id: string): Promise<void> {
    return this.storage.deleteConversation(caller, conversationId(id));
  }
}

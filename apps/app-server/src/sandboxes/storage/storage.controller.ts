import { Controller, Param } from '@nestjs/common';
import { operations, type Principal, type Storage } from '@slipway/contracts';
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

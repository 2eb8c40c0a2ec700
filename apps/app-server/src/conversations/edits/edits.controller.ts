import { Controller, Param } from '@nestjs/common';
import type {
  BulkEdit,
  BulkEditResult,
  Conversation,
  DeleteConversationQuery,
  EditConversation,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { ConversationsService } from '../conversations.service.js';
import { BulkEdits } from './bulk-edits.service.js';
import { ConversationEdits } from './conversation-edits.service.js';
import { ConversationTrash } from './conversation-trash.service.js';

@Controller()
export class EditsController {
  constructor(
    private readonly edits: ConversationEdits,
    private readonly trash: ConversationTrash,
    private readonly bulkEdits: BulkEdits,
    private readonly conversations: ConversationsService,
  ) {}

  @Serves(operations.bulkEditConversations)
  bulk(@Caller() caller: Principal, @Body() body: BulkEdit): Promise<BulkEditResult> {
    return this.bulkEdits.run(caller, body);
  }

  @Serves(operations.editConversation)
  async edit(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() { tags, ...body }: EditConversation,
  ): Promise<Conversation> {
    await this.edits.edit(caller, conversationId(id), tags === undefined ? body : { ...body, tags: () => tags });
    return this.conversations.get(caller, conversationId(id));
  }

  @Serves(operations.deleteConversation)
  delete(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Query() { permanently }: DeleteConversationQuery,
  ): Promise<void> {
    return permanently
      ? this.trash.deleteForGood(caller, conversationId(id))
      : this.trash.delete(caller, conversationId(id));
  }

  @Serves(operations.restoreConversation)
  async restore(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Conversation> {
    await this.trash.restore(caller, conversationId(id));
    return this.conversations.get(caller, conversationId(id));
  }
}

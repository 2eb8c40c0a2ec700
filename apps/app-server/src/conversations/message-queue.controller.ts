import { Controller, Param } from '@nestjs/common';
import type { EditMessage, OrderMessages, QueuedMessage, QueuedMessageList } from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import type { Principal } from '@slipway/contracts/organizations';
import { Body, Caller } from '../http/params.js';
import { Serves } from '../http/serves.js';
import { conversationId } from '../log/events/conversation-id.js';
import { MessageQueueService } from './message-queue.service.js';

@Controller()
export class MessageQueueController {
  constructor(private readonly queue: MessageQueueService) {}

  @Serves(operations.editMessage)
  edit(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('message') message: string,
    @Body() body: EditMessage,
  ): Promise<QueuedMessage> {
    return this.queue.edit(caller, conversationId(id), conversationId(message), body);
  }

  @Serves(operations.orderMessages)
  order(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: OrderMessages,
  ): Promise<QueuedMessageList> {
    return this.queue.order(caller, conversationId(id), body);
  }

  @Serves(operations.deliverMessageNow)
  now(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Param('message') message: string,
  ): Promise<QueuedMessage> {
    return this.queue.now(caller, conversationId(id), conversationId(message));
  }
}

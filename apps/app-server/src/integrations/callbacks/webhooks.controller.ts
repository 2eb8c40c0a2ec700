import { Controller, Param } from '@nestjs/common';
import {
  type CreateOutgoingWebhook,
  type ListWebhookMessagesQuery,
  type OutgoingWebhook,
  type OutgoingWebhookList,
  type OutgoingWebhookWithSecret,
  type UpdateOutgoingWebhook,
  type WebhookMessage,
  type WebhookMessagePage,
} from '@slipway/contracts/integrations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, Query } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { OutgoingWebhooksService } from './outgoing-webhooks.service.js';
import { WebhookMessagesService } from './webhook-messages.service.js';

@Controller()
export class WebhooksController {
  constructor(
    private readonly webhooks: OutgoingWebhooksService,
    private readonly messages: WebhookMessagesService,
  ) {}

  @Serves(operations.listOutgoingWebhooks)
  list(@Caller() caller: Principal): Promise<OutgoingWebhookList> {
    return this.webhooks.list(caller);
  }

  @Serves(operations.createOutgoingWebhook)
  create(@Caller() caller: Principal, @Body() body: CreateOutgoingWebhook): Promise<OutgoingWebhookWithSecret> {
    return this.webhooks.create(caller, body);
  }

  @Serves(operations.getOutgoingWebhook)
  get(@Caller() caller: Principal, @Param('webhook') id: string): Promise<OutgoingWebhook> {
    return this.webhooks.get(caller, id);
  }

  @Serves(operations.updateOutgoingWebhook)
  update(
    @Caller() caller: Principal,
    @Param('webhook') id: string,
    @Body() body: UpdateOutgoingWebhook,
  ): Promise<OutgoingWebhook> {
    return this.webhooks.update(caller, id, body);
  }

  @Serves(operations.deleteOutgoingWebhook)
  delete(@Caller() caller: Principal, @Param('webhook') id: string): Promise<void> {
    return this.webhooks.delete(caller, id);
  }

  @Serves(operations.rotateOutgoingWebhookSecret)
  rotateSecret(@Caller() caller: Principal, @Param('webhook') id: string): Promise<OutgoingWebhookWithSecret> {
    return this.webhooks.rotateSecret(caller, id);
  }

  @Serves(operations.testOutgoingWebhook)
  test(@Caller() caller: Principal, @Param('webhook') id: string): Promise<WebhookMessage> {
    return this.messages.test(caller, id);
  }

  @Serves(operations.listWebhookMessages)
  listMessages(
    @Caller() caller: Principal,
    @Param('webhook') id: string,
    @Query() query: ListWebhookMessagesQuery,
  ): Promise<WebhookMessagePage> {
    return this.messages.page(caller, id, query);
  }

  @Serves(operations.resendWebhookMessage)
  resend(
    @Caller() caller: Principal,
    @Param('webhook') id: string,
    @Param('entry') entry: string,
  ): Promise<WebhookMessage> {
    return this.messages.resend(caller, id, entry);
  }
}

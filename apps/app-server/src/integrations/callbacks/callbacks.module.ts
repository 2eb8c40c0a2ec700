import { Module } from '@nestjs/common';
import { CallbacksController } from './callbacks.controller.js';
import { OutgoingWebhooksService } from './outgoing-webhooks.service.js';
import { ThreadAnswersService } from './thread-answers.service.js';
import { WebhookMails } from './webhook-mails.js';
import { WebhookMessagesService } from './webhook-messages.service.js';
import { WebhooksController } from './webhooks.controller.js';

@Module({
  controllers: [CallbacksController, WebhooksController],
  providers: [ThreadAnswersService, OutgoingWebhooksService, WebhookMessagesService, WebhookMails],
})
export class CallbacksModule {}

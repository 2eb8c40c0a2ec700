import { applyDecorators, SetMetadata, UseGuards } from '@nestjs/common';
import { AuthenticatesItself } from '../../../http/serves.js';
import { MESSAGE_CONTRACT, type MessageContract, MessageGuard } from './message.guard.js';
import { MessageRateGuard } from './message-rate.guard.js';

/**
 * What a `@SubscribeMessage` handler takes, and from whom. Guards check, in this order: rate of the socket, schema,
 * credential, organization, permission. A handler with neither this nor `@AuthenticatesItself` is refused.
 */
export const Receives = (contract: MessageContract): MethodDecorator =>
  applyDecorators(
    SetMetadata(MESSAGE_CONTRACT, contract),
    AuthenticatesItself('MessageGuard authenticates the sender of each message'),
    UseGuards(MessageRateGuard, MessageGuard),
  );

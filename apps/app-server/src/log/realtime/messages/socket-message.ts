import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Authenticated } from '@slipway/auth';
import type { Principal } from '@slipway/contracts/organizations';
import { SlipwayError } from '@slipway/errors';

/**
 * One message of a client on its way to its handler, as `SlipwayRequest` is one request. A socket may have several
 * under way.
 */
export interface SocketMessage {
  /** As the client sent it; behind `MessageGuard` as the schema reads it. */
  body: unknown;
  sender?: Sender;
}

export interface Sender {
  readonly authenticated: Authenticated;
  /** In the organization that the message names. */
  readonly principal: Principal;
}

/** Answers a message once; a second answer is dropped. No-op when the client asked for none. */
export type Acknowledge<Answer> = (answer: Answer) => void;

/** Who sent a message that `@Receives` describes. */
export const SentBy = createParamDecorator((_data: undefined, context: ExecutionContext): Sender => {
  const { sender } = context.switchToWs().getData<SocketMessage>();
  if (sender === undefined)
    throw new SlipwayError('internal.unexpected', 'Quote the request id to support.', {
      internal: 'no sender: the handler has no @Receives',
    });
  return sender;
});

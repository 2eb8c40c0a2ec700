import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { SlipwayError } from '@slipway/errors';
import type { SlipwayRequest } from './request.js';

const requestOf = (context: ExecutionContext): SlipwayRequest => context.switchToHttp().getRequest<SlipwayRequest>();

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined)
    throw new SlipwayError('internal.unexpected', 'Quote the request id to support.', {
      internal: `no ${what}: the handler serves no operation that has one`,
    });
  return value;
}

/** The `Principal` that calls: a member of the organization in the path. */
export const Caller = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  present(requestOf(context).principal, 'principal'),
);
/**
 * The signed-in user, for operations that belong to no organization. With an API key there is none, whatever the
 * operation says: `auth.session-needed`.
 */
export const User = createParamDecorator((_data: undefined, context: ExecutionContext) => {
  const { authenticated, user } = requestOf(context);
  if (authenticated?.kind === 'api-key')
    throw new SlipwayError('auth.session-needed', 'No API key can do this; it is for a signed-in user.');
  return present(user, 'person');
});
/** The signed-in user, or `null`: for operations that are `anonymous`. */
export const MaybeUser = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).user ?? null,
);
/** Who was authenticated and how, for the few that answer people and programs differently. */
export const Credential = createParamDecorator((_data: undefined, context: ExecutionContext) =>
  present(requestOf(context).authenticated, 'proof'),
);
/** The body as the operation's schema reads it. */
export const Body = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => present(requestOf(context).valid, 'validated request').body,
);
/** UUID that an Idempotency-Key reserves for what this request makes; `undefined` without a key. */
export const ReservedId = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => requestOf(context).reservedId,
);
/** The query as the operation's schema reads it. */
export const Query = createParamDecorator(
  (_data: undefined, context: ExecutionContext) => present(requestOf(context).valid, 'validated request').query,
);

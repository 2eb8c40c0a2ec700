import { createHash, timingSafeEqual } from 'node:crypto';
import { type CanActivate, createParamDecorator, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ORG_HEADER } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { currentContext } from '@slipway/telemetry';
import type { FastifyRequest } from 'fastify';

export const RUNTIME_API_KEY = Symbol('RUNTIME_API_KEY');
/** Whose sandboxes a caller without `x-slipway-org` has: those of the key itself. */
const OWN_ORG = 'default';
const ORG = /^[A-Za-z0-9_-]{1,64}$/;

/** Lets callers with the service key in. Compared by hash and in constant time. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly expected: Buffer;

  constructor(@Inject(RUNTIME_API_KEY) key: string) {
    this.expected = createHash('sha256').update(key).digest();
  }

  canActivate(context: ExecutionContext): boolean {
    return this.check(context.switchToHttp().getRequest<FastifyRequest>());
  }

  /** @throws SlipwayError `auth.missing` */
  check(request: FastifyRequest): true {
    const given = request.headers['x-api-key'];
    const hash = createHash('sha256')
      .update(typeof given === 'string' ? given : '')
      .digest();
    if (timingSafeEqual(hash, this.expected)) return true;
    throw new SlipwayError('auth.missing', 'Send the service key in X-API-Key.');
  }
}

/** The organization that the caller acts for. @throws SlipwayError `request.invalid` */
export function orgOf(request: FastifyRequest): string {
  const given = request.headers[ORG_HEADER] ?? OWN_ORG;
  if (typeof given !== 'string' || !ORG.test(given))
    throw new SlipwayError('request.invalid', `${ORG_HEADER}: needs 1 to 64 letters, digits, - or _`, {
      fields: [{ path: ORG_HEADER, message: 'needs 1 to 64 letters, digits, - or _' }],
    });
  const known = currentContext();
  if (known !== undefined) known.orgId = given;
  return given;
}

export const OrgId = createParamDecorator((_data: unknown, context: ExecutionContext): string =>
  orgOf(context.switchToHttp().getRequest<FastifyRequest>()),
);

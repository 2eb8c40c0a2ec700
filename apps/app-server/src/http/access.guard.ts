import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { PrincipalService } from '@slipway/auth';
import type { Operation } from '@slipway/contracts';
import { notFound, SlipwayError } from '@slipway/errors';
import type { SlipwayRequest } from './request.js';
import { OPERATION, PROVES_ITSELF } from './serves.js';
import { WriteLimiter } from './write-limiter.js';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Decides for every handler who is calling and whether they may: person, then organization (404), then permission (403). */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly principals: PrincipalService,
    private readonly limiter: WriteLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<SlipwayRequest>();
    const unsafe = !SAFE_METHODS.has(request.method);
    if (unsafe && this.principals.hasCookie(request.headers.cookie)) this.principals.assertSameSite(request.headers);

    const operation = this.reflector.get<Operation | undefined>(OPERATION, context.getHandler());
    if (operation === undefined) {
      if (this.reflector.getAllAndOverride<string | undefined>(PROVES_ITSELF, [context.getHandler(), context.getClass()]) !== undefined) return true;
      throw new SlipwayError('internal.unexpected', 'Quote the request id to support.', {
        internal: `${request.url} has a handler that nobody may call: it says neither @Serves nor @ProvesItself`,
      });
    }

    const person = await this.principals.authenticateCookie(request.headers.cookie);
    if (person === null) throw new SlipwayError('auth.missing', 'You are not signed in, or your session has ended.');
    if (operation.beforeGates !== true) this.principals.assertGatesPassed(person);
    request.person = person;
    if (unsafe) this.limiter.take(person.userId, context.switchToHttp().getResponse());
    if (operation.permission === null) return true;

    const org = (request.params as { org?: string }).org ?? person.orgs[0]?.id;
    if (org === undefined) throw notFound();
    request.principal = this.principals.principalFor(person, org);
    if (!request.principal.permissions.has(operation.permission)) {
      throw new SlipwayError('permission.denied', `This needs the permission ${operation.permission}.`);
    }
    return true;
  }
}

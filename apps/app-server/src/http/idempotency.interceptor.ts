import { createHash, randomUUID } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ERRORS } from '@slipway/contracts/errors';
import { type Operation } from '@slipway/contracts/operations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { FastifyReply } from 'fastify';
import { catchError, concatMap, from, type Observable, of, throwError } from 'rxjs';
import { LOGGER, SQL_POOL } from '../platform/tokens.js';
import { claimKey, type KeyOwner, loosenKey, releaseKey, storeAnswer } from './idempotency.queries.js';
import type { SlipwayRequest } from './request.js';
import { OPERATION } from './serves.js';

const MAX_KEY_LENGTH = 255;

/**
 * `Idempotency-Key` on operations that are `keyed`: the first request runs, a repetition gets its answer again. Kept 24
 * hours per user and operation. Validation comes before, so a body that is refused keeps nothing; a handler that
 * refuses gives the key back. One that fails, or dies, may have done its work: the repetition runs with the id that the
 * first had reserved, and finds what that one made.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const operation = this.reflector.get<Operation | undefined>(OPERATION, context.getHandler());
    if (operation?.idempotency !== 'keyed') return next.handle();
    const request = context.switchToHttp().getRequest<SlipwayRequest>();
    const key = request.headers['idempotency-key'];
    const caller = ownerOf(request);
    if (key === undefined || caller === null) return next.handle();
    if (typeof key !== 'string' || key.length === 0 || key.length > MAX_KEY_LENGTH) {
      throw new SlipwayError('request.invalid', `Idempotency-Key has 1 to ${MAX_KEY_LENGTH} characters.`, {
        fields: [{ path: 'Idempotency-Key', message: `1 to ${MAX_KEY_LENGTH} characters` }],
      });
    }
    const owner: KeyOwner = { ...caller, route: operation.id, key, bodyHash: hashOf(request) };
    const claim = await inOrg(this.pool, owner.orgId, (client) => claimKey(client, owner, randomUUID()));
    switch (claim.outcome) {
      case 'other-body':
        throw new SlipwayError('idempotency.mismatch', 'The first request with this Idempotency-Key was another one.');
      case 'in-progress':
        throw new SlipwayError(
          'idempotency.in-progress',
          'The first request with this Idempotency-Key has not been answered yet.',
          { retryAfterSeconds: 1 },
        );
      case 'answered':
        void context
          .switchToHttp()
          .getResponse<FastifyReply>()
          .code(claim.status)
          .header('idempotent-replayed', 'true');
        return of(claim.response);
      case 'claimed':
        request.reservedId = claim.reservedId;
        return next.handle().pipe(
          concatMap((answer: unknown) => from(this.keep(owner, operation.status, answer))),
          catchError((error: unknown) =>
            from(this.giveBack(owner, error)).pipe(concatMap(() => throwError(() => error))),
          ),
        );
    }
  }

  /** An answer that cannot be kept is given all the same: the work is done, and only a repetition would suffer. */
  private async keep(owner: KeyOwner, status: number, answer: unknown): Promise<unknown> {
    await inOrg(this.pool, owner.orgId, (client) => storeAnswer(client, owner, status, answer)).catch(
      (error: unknown) => this.logger.error({ err: error }, 'failed to store an idempotent answer'),
    );
    return answer;
  }

  /** A key that cannot be given back frees itself after `STALE_CLAIM_SECONDS`. */
  private async giveBack(owner: KeyOwner, failure: unknown): Promise<void> {
    const refused = failure instanceof SlipwayError && ERRORS[failure.code].status < 500;
    await inOrg(this.pool, owner.orgId, (client) =>
      refused ? releaseKey(client, owner) : loosenKey(client, owner),
    ).catch((error: unknown) => this.logger.warn({ err: error }, 'failed to release an idempotency key'));
  }
}

/** Whose key it is. Operations outside of organizations are stored with the user's own. */
function ownerOf({ principal, user }: SlipwayRequest): Pick<KeyOwner, 'orgId' | 'actorId'> | null {
  if (principal !== undefined) return { orgId: principal.orgId, actorId: principal.actor.id };
  const personal = user?.orgs[0];
  return user === undefined || personal === undefined ? null : { orgId: personal.id, actorId: user.userId };
}

/** One request is the same as another when path and body are; of a file, which is not read yet, name and length. */
function hashOf({ method, url, body, headers }: SlipwayRequest): string {
  const isFile = typeof (body as { pipe?: unknown } | null | undefined)?.pipe === 'function';
  const same = isFile ? [method, url, headers['content-length'] ?? null] : [method, url.split('?')[0], body ?? null];
  return createHash('sha256').update(JSON.stringify(same)).digest('base64url');
}

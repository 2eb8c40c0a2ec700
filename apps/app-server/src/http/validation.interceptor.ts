import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Operation } from '@slipway/contracts/operations';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import type { Observable } from 'rxjs';
import type { SlipwayRequest } from './request.js';
import { OPERATION } from './serves.js';
import { unstorableText } from './storable-text.js';

/**
 * Reads body and query by the operation's schemas before anything is kept or done. Text that no database can hold goes
 * no further, whatever a schema thinks of it.
 */
@Injectable()
export class ValidationInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const operation = this.reflector.get<Operation | undefined>(OPERATION, context.getHandler());
    if (operation !== undefined) {
      const request = context.switchToHttp().getRequest<SlipwayRequest>();
      // Nothing has such an id.
      if (unstorableText(request.params) !== null) throw notFound();
      request.valid = {
        body:
          operation.body === undefined
            ? undefined
            : parseOrThrow(
                operation.body,
                request.plainText === true ? (request.body ?? {}) : storable(request.body ?? {}),
              ),
        query: operation.query === undefined ? undefined : parseOrThrow(operation.query, storable(request.query)),
      };
    }
    return next.handle();
  }
}

function storable(value: unknown): unknown {
  const at = unstorableText(value)?.join('.');
  if (at === undefined) return value;
  const message = 'has the character NUL or half a surrogate pair in it, which is no text';
  throw new SlipwayError('request.invalid', `${at}: ${message}`, { fields: [{ path: at, message }] });
}

import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Operation } from '@slipway/contracts';
import { parseOrThrow } from '@slipway/errors';
import type { Observable } from 'rxjs';
import type { SlipwayRequest } from './request.js';
import { OPERATION } from './serves.js';

/** Reads body and query by the operation's schemas before anything is kept or done. */
@Injectable()
export class ValidationInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const operation = this.reflector.get<Operation | undefined>(OPERATION, context.getHandler());
    if (operation !== undefined) {
      const request = context.switchToHttp().getRequest<SlipwayRequest>();
      request.valid = {
        body: operation.body === undefined ? undefined : parseOrThrow(operation.body, request.body ?? {}),
        query: operation.query === undefined ? undefined : parseOrThrow(operation.query, request.query),
      };
    }
    return next.handle();
  }
}

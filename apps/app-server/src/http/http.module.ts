import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ProblemFilter } from '@slipway/errors/nest';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../config.js';
import { CONFIG, LOGGER } from '../platform/tokens.js';
import { AccessGuard } from './access.guard.js';
import { docsUrl } from './framework-problem.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { Limits } from './limits.js';
import { ValidationInterceptor } from './validation.interceptor.js';

/**
 * What every request goes through, in this order: guard, validation, idempotency, handler; and the filter for whatever
 * is thrown.
 */
@Global()
@Module({
  providers: [
    Limits,
    {
      provide: APP_FILTER,
      inject: [LOGGER, CONFIG],
      useFactory: (logger: Logger, config: Config) => new ProblemFilter(logger, docsUrl(config.PUBLIC_URL)),
    },
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_INTERCEPTOR, useClass: ValidationInterceptor },
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
  ],
  exports: [Limits],
})
export class HttpModule {}

import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { APP_KEY_SHA256_HEADER } from '@slipway/contracts/agent';
import type { FastifyInstance } from 'fastify';
import { goneSignal, keyHashOf, waitOf } from '../claims/request-wait.js';
import { type ApiKeyGuard, orgOf } from './api-key.guard.js';
import type { SessionsService } from './sessions.service.js';

export interface StartRouteOptions {
  readonly runtimes: SessionsService;
  readonly guard: ApiKeyGuard;
  readonly problems: ExceptionFilter;
  /** Largest body. Bytes. */
  readonly bodyLimit: number;
}

/**
 * `POST /start`, straight on the HTTP server: it is the way of every claim, so nothing of the framework stands before
 * it.
 */
export function installStartRoute(
  fastify: FastifyInstance,
  { runtimes, guard, problems, bodyLimit }: StartRouteOptions,
): void {
  void fastify.register(async (scope) => {
    scope.removeContentTypeParser('application/json');
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit },
      scope.getDefaultJsonParser('error', 'error'),
    );
    // Before the body is read.
    scope.addHook('onRequest', (request, _reply, done) => {
      guard.check(request);
      done();
    });
    scope.setErrorHandler((thrown, _request, reply) => {
      problems.catch(thrown, { switchToHttp: () => ({ getResponse: () => reply }) } as ArgumentsHost);
    });
    scope.post('/start', { bodyLimit }, async (request, reply) => {
      const { prefer } = request.headers;
      const gone = goneSignal(reply);
      try {
        const appKey = keyHashOf(request.headers[APP_KEY_SHA256_HEADER]);
        const runtime = await runtimes.start(orgOf(request), request.body, {
          waitMs: waitOf(typeof prefer === 'string' ? prefer : undefined),
          gone,
          appKeySha256: appKey,
        });
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(runtime));
      } catch (error) {
        if (!gone.aborted) throw error;
        // The reason goes unread.
        return reply.hijack();
      }
    });
  });
}

import { createServer, type Server } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { installTelemetry, type Registry, type Telemetry, type TelemetryOptions } from '@slipway/telemetry/http';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { addPlatformRoutes } from './budgets/platform-routes.js';
import { type CompletionHandlerOptions, createCompletionHandler } from './calls/completion-handler.js';
import { addKeyRoutes, type KeyRoutesOptions } from './keys/key-routes.js';
import type { StoredKey } from './keys/keys.queries.js';
import { callerToken } from './keys/master-key.js';
import { addSpendRoutes } from './management/spend-routes.js';
import { addTeamRoutes } from './management/team-routes.js';
import { addUserRoutes } from './management/user-routes.js';
import { addPromptLogRoutes, type PromptLogRoutesOptions } from './prompt-log/prompt-log-routes.js';
import { addDeploymentRoutes } from './routing/deployment-routes.js';
import { modelInfoOf } from './routing/model-info.js';
import { errorOf } from './wire/errors.js';

export interface GatewayServerOptions {
  readonly completions: CompletionHandlerOptions;
  readonly keys: KeyRoutesOptions;
  readonly promptLog: PromptLogRoutesOptions['mode'];
  readonly registry: Registry;
  readonly metrics: TelemetryOptions['metrics'];
  readonly logger: Logger;
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Aborted when this process is about to end. */
  readonly stopping: AbortSignal;
}

/** Bodies of the control routes. Bytes. */
const CONTROL_BODY = 64 * 1024;

/**
 * One HTTP server: completions are taken from it before Fastify sees them
 * (docs/decisions/0004-gateway-without-nest.md), the control routes are Fastify's.
 */
export function createGatewayServer(options: GatewayServerOptions): { app: FastifyInstance; telemetry: Telemetry } {
  const completions = createCompletionHandler(options.completions);
  const app = fastify({
    bodyLimit: CONTROL_BODY,
    serverFactory: (handler): Server => {
      const server = createServer(
        { noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000, requestTimeout: 120_000 },
        (request, response) => {
          if (!completions(request, response)) handler(request, response);
        },
      );
      // Longer than any client's or load balancer's own, so that it is never this side that closes under a request.
      server.keepAliveTimeout = 75_000;
      return server;
    },
  });
  const { registry, logger, ready, stopping, metrics } = options;
  const telemetry = installTelemetry(app, { registry, logger, ready, stopping, metrics });
  app.setErrorHandler((thrown, _request, reply) => {
    const { status, headers, body, error } = errorOf('chat', fromFastify(thrown));
    if (status >= 500) options.logger.error({ err: error, cause: error.more.cause }, error.message);
    return reply.code(status).headers(headers).send(body);
  });
  app.setNotFoundHandler((_request, reply) => {
    const { status, body } = errorOf('chat', new SlipwayError('resource.not-found', 'There is no such route.'));
    return reply.code(status).send(body);
  });
  const { keys, models, dispatchers } = options.completions;
  const { isMasterKey } = options.keys;
  /** `null`: the master key, to which everything is shown. */
  const callerOf = (request: FastifyRequest): StoredKey | null | Promise<StoredKey> => {
    const token = callerToken(request.headers);
    return isMasterKey(token) ? null : keys.authenticate(token);
  };
  for (const path of ['/v1/models', '/models']) app.get(path, async (request) => models.list(await callerOf(request)));
  for (const path of ['/model/info', '/v1/model/info'])
    app.get(path, async (request) => modelInfoOf(models, await callerOf(request)));
  addDeploymentRoutes(app, { models, dispatchers, isMasterKey });
  addKeyRoutes(app, options.keys);
  addPlatformRoutes(app, { ...options.keys, models });
  addPromptLogRoutes(app, { pool: options.keys.pool, mode: options.promptLog, isMasterKey });
  addTeamRoutes(app, options.keys);
  addUserRoutes(app, options.keys);
  addSpendRoutes(app, options.keys);
  return { app, telemetry };
}

/** What Fastify throws by itself, in our codes. */
function fromFastify(thrown: unknown): unknown {
  if (thrown instanceof SlipwayError) return thrown;
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  if (status === 413)
    return new SlipwayError('request.too-large', 'The body is larger than this route takes.', { cause: thrown });
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new SlipwayError('request.not-json', 'The body could not be read as JSON.', { cause: thrown });
  return thrown;
}

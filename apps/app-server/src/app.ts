import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { MAX_INGEST_BYTES } from '@slipway/contracts/events';
import type { SqlPool } from '@slipway/db/sql';
import { metricsAddress } from '@slipway/telemetry';
import { installTelemetry } from '@slipway/telemetry/http';
import { AppModule, FEATURES } from './app.module.js';
import { clientProblem, frameworkProblem } from './http/framework-problem.js';
import { installJsonBody } from './http/json-body.js';
import { installPages } from './http/pages.js';
import { installSecurityHeaders } from './http/security-headers.js';
import { SlipwaySocketAdapter } from './log/realtime/socket.adapter.js';
import { NestLogger } from './platform/nest-logger.js';
import type { Platform } from './platform/platform.module.js';
import { SQL_POOL } from './platform/tokens.js';

/** Largest body of the API. Bytes. */
const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Longest until a request's headers, and the whole of it, have come. Milliseconds: who sends slower holds a connection
 * that others need. Answers may take as long as they take.
 */
const HEADERS_MS = 30_000;
/**
 * Largest head of a request. Bytes: every filter of a list at once, each at its longest, in characters that take twelve
 * bytes of an address.
 */
const MAX_HEADER_BYTES = 64 * 1024;
const REQUEST_MS = 120_000;

/** The whole server, not yet listening. Starts no work and needs no other process to be up. */
export async function createApp(
  platform: Platform,
  features: ReadonlyArray<Type | DynamicModule> = FEATURES,
): Promise<NestFastifyApplication> {
  const { config, logger, metrics } = platform;
  const adapter = new FastifyAdapter({
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: config.TRUSTED_PROXIES.length === 0 ? false : [...config.TRUSTED_PROXIES],
    frameworkErrors: frameworkProblem(config.PUBLIC_URL),
    clientErrorHandler: clientProblem(config.PUBLIC_URL),
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS, maxHeaderSize: MAX_HEADER_BYTES },
    routerOptions: { maxParamLength: 500 },
  });
  const fastify = adapter.getInstance();
  fastify.addHook('onRoute', (route) => {
    if (route.url.startsWith('/ingest/')) route.bodyLimit = MAX_INGEST_BYTES;
  });
  installJsonBody(fastify);
  const contentPolicy = installSecurityHeaders(fastify, config.PUBLIC_URL, config.SANDBOX_GATEWAY_URL);
  let pool: SqlPool | undefined;
  installTelemetry(fastify, {
    registry: metrics,
    logger,
    access: platform.access,
    metrics: metricsAddress(config),
    stopping: platform.stopping,
    ready: async (signal) => {
      const late = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('the database does not answer')), { once: true }),
      );
      await Promise.race([pool?.query('SELECT 1'), late]);
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.register(platform, features), adapter, {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  pool = app.get<SqlPool>(SQL_POOL);
  app.useWebSocketAdapter(new SlipwaySocketAdapter(app));
  // Our routes and our error handler first: the pages take what is left.
  await app.init();
  if (config.WEB_URL !== undefined) await installPages(fastify, config.WEB_URL, contentPolicy);
  return app;
}

import type { DynamicModule, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Clock } from '@slipway/domain';
import { createLogger, logSettings } from '@slipway/telemetry';
import { createMetrics } from '@slipway/telemetry/http';
import type { IdentityServer, TestDatabase } from '@slipway/testing';
import { createApp } from '../app.js';
import { type Config, loadConfig } from '../config.js';

export interface TestApp {
  readonly url: string;
  readonly app: NestFastifyApplication;
  /** What Prometheus reads of it. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** The real clock, moved on by a test. */
export class MovableClock implements Clock {
  private offsetMs = 0;
  now(): Date {
    return new Date(Date.now() + this.offsetMs);
  }
  advance(milliseconds: number): void {
    this.offsetMs += milliseconds;
  }
}

export function testConfig(
  port: number,
  database: TestDatabase,
  identity: Pick<IdentityServer, 'issuerUrl' | 'clientId' | 'clientSecret'>,
  more: Readonly<Record<string, string>> = {},
): Config {
  return loadConfig({
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: database.urls.app,
    OIDC_ISSUER_URL: identity.issuerUrl,
    OIDC_CLIENT_ID: identity.clientId,
    OIDC_CLIENT_SECRET: identity.clientSecret,
    SESSION_SECRET: 'test-session-secret-test-session-secret',
    ENCRYPTION_KEY: 'test-encryption-key-test-encryption-key',
    INGEST_SECRET: 'test-ingest-secret-test-ingest-secret',
    LLM_GATEWAY_URL: 'http://127.0.0.1:9',
    LLM_GATEWAY_MASTER_KEY: 'test-master-key-test-master-key-test',
    ...more,
  });
}

/** The real server in this process, on a port of its own. */
export async function startTestApp(
  config: Config,
  options: { readonly clock?: Clock; readonly features?: ReadonlyArray<Type | DynamicModule> } = {},
): Promise<TestApp> {
  const { clock, features } = options;
  const metrics = createMetrics('app-server');
  const app = await createApp(
    {
      config,
      logger: createLogger('app-server', logSettings(config)),
      metrics,
      ...(clock === undefined ? {} : { clock }),
    },
    features,
  );
  await app.listen(config.PORT, config.HOST);
  return { url: config.PUBLIC_URL, app, metrics: () => metrics.metrics(), close: () => app.close() };
}

import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { GitTokens } from '@slipway/auth/git-token';
import type { SqlPool } from '@slipway/db/sql';
import { PROVIDERS } from '@slipway/integrations';
import { ConnectionCredentials } from '@slipway/integrations/credentials';
import { ProviderDispatch } from '@slipway/integrations/dispatch';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from '../../config.js';
import { CONFIG, LOGGER, METRICS, SQL_POOL } from '../../platform/tokens.js';
import { GitRelay } from './git-relay.js';
import { installGitRelayRoutes } from './git-relay.routes.js';

@Module({})
export class GitRelayModule implements OnModuleInit, OnApplicationShutdown {
  private readonly dispatch: ProviderDispatch;

  constructor(
    private readonly adapterHost: HttpAdapterHost<FastifyAdapter>,
    private readonly credentials: ConnectionCredentials,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(METRICS) private readonly metrics: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.dispatch = new ProviderDispatch(config.INTEGRATION_PRIVATE_HOSTS);
  }

  onModuleInit(): void {
    installGitRelayRoutes(this.adapterHost.httpAdapter.getInstance(), {
      relay: new GitRelay(this.pool, this.credentials, new Map(Object.entries(PROVIDERS)), this.dispatch),
      tokens: new GitTokens(this.config.INGEST_SECRET),
      metrics: this.metrics,
      logger: this.logger,
      docsUrl: new URL('/docs', this.config.PUBLIC_URL).href,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.dispatch.close();
  }
}

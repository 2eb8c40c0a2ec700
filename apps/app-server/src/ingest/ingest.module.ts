import { Global, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { IngestTokens } from '@slipway/auth/ingest-token';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from '../config.js';
import { Hubs } from '../events/hubs.js';
import { Jobs } from '../jobs/jobs.js';
import { CONFIG, LOGGER, METRICS, SQL_POOL } from '../platform/tokens.js';
import { DeltaCoalescer } from './delta-coalescer.js';
import { installIngestRoutes } from './ingest.routes.js';
import { IngestService } from './ingest.service.js';

@Global()
@Module({
  providers: [
    {
      provide: IngestService,
      inject: [SQL_POOL, Hubs, Jobs, LOGGER],
      useFactory: (pool: SqlPool, hubs: Hubs, jobs: Jobs, logger: Logger) => new IngestService(pool, hubs, jobs, logger),
    },
    {
      provide: DeltaCoalescer,
      inject: [Hubs],
      useFactory: (hubs: Hubs) => new DeltaCoalescer((orgId, conversationId, delta) => hubs.delta(orgId, conversationId, delta)),
    },
  ],
  exports: [IngestService],
})
export class IngestModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly adapterHost: HttpAdapterHost<FastifyAdapter>,
    private readonly ingest: IngestService,
    private readonly deltas: DeltaCoalescer,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(METRICS) private readonly metrics: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    installIngestRoutes(this.adapterHost.httpAdapter.getInstance(), {
      ingest: this.ingest,
      deltas: this.deltas,
      tokens: new IngestTokens(this.config.INGEST_SECRET),
      metrics: this.metrics,
      logger: this.logger,
      docsUrl: new URL('/docs', this.config.PUBLIC_URL).href,
    });
  }

  onApplicationShutdown(): void {
    this.deltas.close();
  }
}

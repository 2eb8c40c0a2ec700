import { Global, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { SecretBox } from '@slipway/auth';
import { IngestTokens } from '@slipway/auth/ingest-token';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from '../../config.js';
import { AnswerAudit } from '../../conversations/confirmation/answer-audit.js';
import { Jobs } from '../../platform/jobs.js';
import { CLOCK, CONFIG, IDS, LOGGER, METRICS, SQL_POOL } from '../../platform/tokens.js';
import { Hubs } from '../events/hubs.js';
import { DeltaCoalescer } from './delta-coalescer.js';
import { installIngestRoutes } from './ingest.routes.js';
import { IngestService } from './ingest.service.js';
import { RunEnds } from './run-ends.js';
import { StorageHalt } from './storage-halt.js';

@Global()
@Module({
  providers: [
    {
      provide: AnswerAudit,
      inject: [SecretBox, IDS],
      useFactory: (box: SecretBox, ids: Ids) => new AnswerAudit(box, ids),
    },
    {
      provide: IngestService,
      inject: [SQL_POOL, Hubs, Jobs, LOGGER, AnswerAudit, StorageHalt, METRICS],
      useFactory: (
        pool: SqlPool,
        hubs: Hubs,
        jobs: Jobs,
        logger: Logger,
        answers: AnswerAudit,
        halt: StorageHalt,
        metrics: Registry,
      ) => new IngestService(pool, hubs, jobs, logger, answers, halt, new RunEnds(pool, metrics)),
    },
    {
      provide: StorageHalt,
      inject: [SQL_POOL, IDS, CLOCK],
      useFactory: (pool: SqlPool, ids: Ids, clock: Clock) => new StorageHalt(pool, ids, clock),
    },
    {
      provide: DeltaCoalescer,
      inject: [Hubs],
      useFactory: (hubs: Hubs) =>
        new DeltaCoalescer((orgId, conversationId, delta) => hubs.delta(orgId, conversationId, delta)),
    },
  ],
  exports: [IngestService, AnswerAudit],
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

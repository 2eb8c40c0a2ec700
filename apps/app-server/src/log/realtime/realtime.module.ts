import { type BeforeApplicationShutdown, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { PrincipalService } from '@slipway/auth';
import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import { ConfirmationModule } from '../../conversations/confirmation/confirmation.module.js';
import { ConfirmationService } from '../../conversations/confirmation/confirmation.service.js';
import { LOGGER, METRICS, SQL_POOL } from '../../platform/tokens.js';
import { AccessWatch } from '../events/access-watch.js';
import { Hubs } from '../events/hubs.js';
import { StreamSeats } from '../events/stream-seats.js';
import { RealtimeGateway } from './realtime.gateway.js';

@Module({ imports: [ConfirmationModule] })
export class RealtimeModule implements OnModuleInit, BeforeApplicationShutdown {
  private gateway: RealtimeGateway | undefined;

  constructor(
    private readonly adapterHost: HttpAdapterHost<FastifyAdapter>,
    private readonly principals: PrincipalService,
    private readonly hubs: Hubs,
    private readonly access: AccessWatch,
    private readonly seats: StreamSeats,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(METRICS) private readonly metrics: Registry,
    private readonly confirmations: ConfirmationService,
  ) {}

  onModuleInit(): void {
    this.gateway = new RealtimeGateway(
      this.adapterHost.httpAdapter.getHttpServer(),
      this.principals,
      this.hubs,
      this.access,
      this.seats,
      this.pool,
      this.logger,
      this.metrics,
      this.confirmations,
    );
  }

  /** What waits in this process for sockets that do not take it. */
  unsentBytes(): number {
    return this.gateway?.unsentBytes() ?? 0;
  }

  /** Sends the sockets to other replicas, within `overMs`. Milliseconds. */
  async drain(overMs: number): Promise<void> {
    await this.gateway?.drain(overMs);
  }

  beforeApplicationShutdown(): void {
    this.gateway?.close();
  }
}

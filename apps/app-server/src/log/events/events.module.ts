import { type BeforeApplicationShutdown, Global, Module } from '@nestjs/common';
import type { SqlPool } from '@slipway/db/sql';
import type { HintBus } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from '../../config.js';
import { HINT_BUS } from '../../platform/jobs.module.js';
import { CONFIG, LOGGER, METRICS, SQL_POOL } from '../../platform/tokens.js';
import { AccessWatch } from './access-watch.js';
import { EventsController } from './events.controller.js';
import { Hubs } from './hubs.js';
import { StreamSeats } from './stream-seats.js';

@Global()
@Module({
  controllers: [EventsController],
  providers: [
    {
      provide: Hubs,
      inject: [SQL_POOL, HINT_BUS, LOGGER, METRICS],
      useFactory: (pool: SqlPool, bus: HintBus, logger: Logger, metrics: Registry) =>
        new Hubs(pool, bus, logger, metrics),
    },
    {
      provide: AccessWatch,
      inject: [SQL_POOL, LOGGER],
      useFactory: (pool: SqlPool, logger: Logger) => new AccessWatch(pool, logger),
    },
    {
      provide: StreamSeats,
      inject: [CONFIG, METRICS],
      useFactory: (config: Config, metrics: Registry) =>
        new StreamSeats({ perUser: config.STREAMS_PER_USER, perOrg: config.STREAMS_PER_ORG }, metrics),
    },
  ],
  exports: [Hubs, AccessWatch, StreamSeats],
})
export class EventsModule implements BeforeApplicationShutdown {
  constructor(
    private readonly hubs: Hubs,
    private readonly access: AccessWatch,
  ) {}

  /** Before the HTTP server is closed: it waits for open streams. */
  beforeApplicationShutdown(): void {
    this.access.close();
    this.hubs.close();
  }
}

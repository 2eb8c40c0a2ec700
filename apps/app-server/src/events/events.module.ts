import { type BeforeApplicationShutdown, Global, Module } from '@nestjs/common';
import type { SqlPool } from '@slipway/db/sql';
import type { HintBus } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { HINT_BUS } from '../jobs/jobs.module.js';
import { LOGGER, SQL_POOL } from '../platform/tokens.js';
import { AccessWatch } from './access-watch.js';
import { EventsController } from './events.controller.js';
import { Hubs } from './hubs.js';

@Global()
@Module({
  controllers: [EventsController],
  providers: [
    { provide: Hubs, inject: [SQL_POOL, HINT_BUS, LOGGER], useFactory: (pool: SqlPool, bus: HintBus, logger: Logger) => new Hubs(pool, bus, logger) },
    { provide: AccessWatch, inject: [SQL_POOL, LOGGER], useFactory: (pool: SqlPool, logger: Logger) => new AccessWatch(pool, logger) },
  ],
  exports: [Hubs, AccessWatch],
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

import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createHintBus, createQueue, type HintBus, measuredQueue, type Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from '../config.js';
import { Jobs } from './jobs.js';
import { CONFIG, LOGGER, METRICS } from './tokens.js';

export const QUEUE = Symbol('Queue');
export const HINT_BUS = Symbol('HintBus');

const options = (config: Config, logger: Logger) => ({
  redisUrl: config.REDIS_URL,
  databaseUrl: config.DATABASE_URL,
  applicationName: 'app-server',
  logger,
});

/** The two ways to other processes: jobs that must happen, and hints that may be lost. */
@Global()
@Module({
  providers: [
    {
      provide: QUEUE,
      inject: [CONFIG, LOGGER, METRICS],
      useFactory: async (config: Config, logger: Logger, metrics: Registry) =>
        measuredQueue(await createQueue(options(config, logger)), metrics),
    },
    {
      provide: HINT_BUS,
      inject: [CONFIG, LOGGER],
      useFactory: (config: Config, logger: Logger) => createHintBus(options(config, logger)),
    },
    { provide: Jobs, inject: [QUEUE, LOGGER], useFactory: (queue: Queue, logger: Logger) => new Jobs(queue, logger) },
  ],
  exports: [HINT_BUS, Jobs, QUEUE],
})
export class JobsModule implements OnApplicationShutdown {
  constructor(
    @Inject(QUEUE) private readonly queue: Queue,
    @Inject(HINT_BUS) private readonly bus: HintBus,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.queue.close(), this.bus.close()]);
  }
}

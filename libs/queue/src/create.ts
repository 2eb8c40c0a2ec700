import type { Logger } from '@slipway/telemetry';
import { openPostgresBackend } from './adapters/postgres-backend.js';
import { PostgresHintBus } from './adapters/postgres-hint-bus.js';
import { openRedisBackend } from './adapters/redis-backend.js';
import { RedisHintBus } from './adapters/redis-hint-bus.js';
import { BullQueue } from './bull-queue.js';
import type { HintBus } from './hint-bus.js';
import type { Queue } from './queue.js';

export interface QueueOptions {
  /** With it: Redis. Without: Postgres carries queue and hints. */
  readonly redisUrl?: string | undefined;
  /** As a service's own role; the schema "bullmq" must be there (`migrateQueue` of `@slipway/queue/migrate`). */
  readonly databaseUrl: string;
  readonly applicationName: string;
  readonly logger: Logger;
}

/**
 * @throws when there is no Redis to wait for and the database does not answer or has no queue schema. A Redis that is
 * away is waited for.
 */
export async function createQueue({ redisUrl, databaseUrl, applicationName, logger }: QueueOptions): Promise<Queue> {
  return new BullQueue(
    redisUrl === undefined
      ? await openPostgresBackend({ databaseUrl, applicationName, logger })
      : openRedisBackend({ redisUrl, logger }),
    logger,
  );
}

/** Connects by itself, whenever the backend is there. */
export function createHintBus({ redisUrl, databaseUrl, applicationName, logger }: QueueOptions): HintBus {
  return redisUrl === undefined
    ? new PostgresHintBus({ databaseUrl, applicationName, logger })
    : new RedisHintBus({ redisUrl, logger });
}

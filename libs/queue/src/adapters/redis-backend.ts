import type { Logger } from '@slipway/telemetry';
import { Queue as BullMqQueue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { BullBackend } from '../bull-queue.js';

/** Longest pause between two tries to reach Redis. Milliseconds. */
const RECONNECT_CAP_MS = 1_000;

/** A connection that never gives up: commands wait for it, as BullMQ's workers need. */
export function connectRedis(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 2_000,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), RECONNECT_CAP_MS),
  });
  // One line an outage: it is tried many times a minute.
  let reported = false;
  redis.on('ready', () => {
    if (reported) logger.info('Redis answers again');
    reported = false;
  });
  redis.on('error', (error: Error) => {
    if (!reported) logger.warn({ reason: error.message }, 'Redis does not answer, will retry');
    reported = true;
  });
  return redis;
}

/**
 * BullMQ on Redis 6.2 or newer, which must have `maxmemory-policy noeviction`. Does not wait for Redis: jobs run as
 * soon as it is there.
 */
export function openRedisBackend(options: { redisUrl: string; logger: Logger }): BullBackend {
  const redis = connectRedis(options.redisUrl, options.logger);
  return {
    name: 'redis',
    openQueue: (name) => new BullMqQueue(name, { connection: redis, prefix: 'slipway' }),
    openWorker: (name, processor, settings) =>
      new Worker(name, processor, { connection: redis, prefix: 'slipway', ...settings }),
    connected: () => redis.status === 'ready' || redis.status === 'connecting' || redis.status === 'connect',
    ping: async () => {
      if (redis.status !== 'ready') throw new Error(`Redis is ${redis.status}`);
      await redis.ping();
    },
    close: async () => redis.disconnect(),
  };
}

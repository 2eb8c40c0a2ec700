import type { Logger } from '@slipway/telemetry';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';

/** Longest wait for Redis's count. Milliseconds: a request waits meanwhile. */
const REDIS_TIMEOUT_MS = 250;
/** After a failure of Redis this process counts by itself for so long before it asks again. Milliseconds. */
const REDIS_PAUSE_MS = 2_000;

export interface WindowCount {
  /** With this one. */
  readonly consumed: number;
  /** Until the window ends and the count restarts. Milliseconds. */
  readonly msBeforeNext: number;
}
export type WindowCounter = (who: string) => Promise<WindowCount>;

/**
 * Counts in windows of time, each caller's from their first on: in Redis where there is one, for all replicas together,
 * or else in this process. When Redis does not answer in a quarter of a second, this process counts by itself for a
 * while: never rejects.
 */
export class WindowCounters {
  private readonly redis: Redis | null;
  private redisAwayUntil = 0;

  constructor(private readonly options: { readonly redisUrl?: string | undefined; readonly logger: Logger }) {
    this.redis = options.redisUrl === undefined ? null : connect(options.redisUrl, options.logger);
  }

  /** @param limit beyond it nothing is counted exactly. */
  counter(name: string, limit: number, windowSeconds: number): WindowCounter {
    const settings = { points: limit, duration: windowSeconds, keyPrefix: `slipway:count:${name}` };
    const memory = new RateLimiterMemory(settings);
    const redis =
      this.redis === null
        ? null
        : new RateLimiterRedis({ ...settings, storeClient: this.redis, rejectIfRedisNotReady: true });
    return async (who) => {
      if (redis !== null && performance.now() >= this.redisAwayUntil) {
        try {
          return await countIn(redis, who);
        } catch (error) {
          this.redisAwayUntil = performance.now() + REDIS_PAUSE_MS;
          this.options.logger.warn(
            { err: error },
            'rate counters in Redis failed, this process counts its own for a while',
          );
        }
      }
      return countIn(memory, who);
    };
  }

  close(): void {
    this.redis?.disconnect();
  }
}

async function countIn(limiter: RateLimiterMemory | RateLimiterRedis, who: string): Promise<WindowCount> {
  try {
    return countOf(await limiter.consume(who));
  } catch (refusal) {
    // The library rejects with the count itself when there is nothing left, and with an error when it could not count.
    if (refusal instanceof Error) throw refusal;
    return countOf(refusal as RateLimiterRes);
  }
}

function countOf({ consumedPoints, msBeforeNext }: RateLimiterRes): WindowCount {
  return { consumed: consumedPoints, msBeforeNext };
}

function connect(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: REDIS_TIMEOUT_MS,
    connectTimeout: 5_000,
    retryStrategy: (times) => Math.min(times * 200, 2_000),
  });
  redis.on('error', (error) => logger.debug({ err: error }, 'rate counter connection to Redis failed'));
  return redis;
}

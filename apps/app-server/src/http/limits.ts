import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type LimitClass, limitOf, type Operation } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { Counter, type Registry } from '@slipway/telemetry/http';
import type { FastifyReply } from 'fastify';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config.js';
import { CONFIG, LOGGER, METRICS } from '../platform/tokens.js';
import { networkOf } from './network-of.js';

/** Window of every bucket. Seconds. */
const WINDOW_SECONDS = 60;
/** Longest wait for Redis's count. Milliseconds: a request waits meanwhile. */
const REDIS_TIMEOUT_MS = 250;
/** After a failure of Redis this process counts by itself for so long before it asks again. Milliseconds. */
const REDIS_PAUSE_MS = 2_000;

/** Buckets by name: of one caller (a person, a key), of an organization with all its callers, of an address that has proved nothing. */
type BucketName = LimitClass | `org-${LimitClass}` | 'anonymous' | 'guesses';
interface Bucket {
  readonly points: number;
  readonly memory: RateLimiterMemory;
  readonly redis: RateLimiterRedis | null;
}

/**
 * How often each caller may ask, in windows of a minute: reads, writes and starts of conversations apart, for each person or key, and for each organization.
 * Counted in Redis where there is one, for all replicas together. When that does not answer, this process counts by itself: a limit that is looser for a while
 * does less harm than an API that is away.
 */
@Injectable()
export class Limits implements OnApplicationShutdown {
  private readonly buckets: ReadonlyMap<BucketName, Bucket>;
  private readonly redis: Redis | null;
  private readonly refused: Counter<'bucket'>;
  private redisAwayUntil = 0;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(METRICS) metrics: Registry,
  ) {
    this.redis = config.REDIS_URL === undefined ? null : connect(config.REDIS_URL, logger);
    const points: Record<LimitClass, number> = {
      reads: config.RATE_READS_PER_MINUTE,
      writes: config.RATE_WRITES_PER_MINUTE,
      starts: config.RATE_STARTS_PER_MINUTE,
    };
    this.buckets = new Map<BucketName, Bucket>([
      ...(['reads', 'writes', 'starts'] as const).flatMap(
        (name): Array<[BucketName, Bucket]> => [
          [name, this.bucket(name, points[name])],
          [`org-${name}`, this.bucket(`org-${name}`, points[name] * config.RATE_ORG_MULTIPLE)],
        ],
      ),
      ['anonymous', this.bucket('anonymous', config.RATE_ANONYMOUS_PER_MINUTE)],
      ['guesses', this.bucket('guesses', GUESSES_PER_MINUTE)],
    ]);
    this.refused = new Counter({
      name: 'http_rate_limited_total',
      help: 'Requests that were refused by a rate limit',
      labelNames: ['bucket'],
      registers: [metrics],
    });
  }

  /**
   * One request of a caller: `who` is the person's or the key's id.
   * @throws SlipwayError `rate.limited` with the seconds until the next window.
   */
  takeOfCaller(operation: Pick<Operation, 'method' | 'limit'>, who: string, reply: FastifyReply): Promise<void> {
    return this.take(limitOf(operation), who, reply);
  }

  /** The same request as one of its organization's. @throws SlipwayError `rate.limited` */
  takeOfOrg(operation: Pick<Operation, 'method' | 'limit'>, orgId: string, reply: FastifyReply): Promise<void> {
    return this.take(`org-${limitOf(operation)}`, orgId, reply);
  }

  /** A request of somebody who has proved nothing, by network address. @throws SlipwayError `rate.limited` */
  takeOfAddress(address: string, reply: FastifyReply): Promise<void> {
    return this.take('anonymous', networkOf(address), reply);
  }

  /** A wrong guess of a short code. @throws SlipwayError `rate.limited` when there were too many: the guess is then not answered at all. */
  takeGuess(who: string, reply: FastifyReply): Promise<void> {
    return this.take('guesses', who, reply);
  }

  async onApplicationShutdown(): Promise<void> {
    this.redis?.disconnect();
  }

  private bucket(name: BucketName, points: number): Bucket {
    const settings = { points, duration: WINDOW_SECONDS, keyPrefix: `slipway:rate:${name}` };
    return {
      points,
      memory: new RateLimiterMemory(settings),
      redis: this.redis === null ? null : new RateLimiterRedis({ ...settings, storeClient: this.redis, rejectIfRedisNotReady: true }),
    };
  }

  private async take(name: BucketName, who: string, reply: FastifyReply): Promise<void> {
    const bucket = this.buckets.get(name) as Bucket;
    const { points } = bucket;
    const { remainingPoints, msBeforeNext, consumedPoints } = await this.count(bucket, who);
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
    append(reply, 'ratelimit-policy', `"${name}";q=${points};w=${WINDOW_SECONDS}`);
    append(reply, 'ratelimit', `"${name}";r=${remainingPoints};t=${resetSeconds}`);
    if (consumedPoints <= points) return;
    this.refused.inc({ bucket: name });
    throw new SlipwayError('rate.limited', `More than ${points} in a minute (${name}).`, { retryAfterSeconds: resetSeconds });
  }

  /** What is left after this request, also when that is nothing. */
  private async count({ memory, redis }: Bucket, who: string): Promise<RateLimiterRes> {
    if (redis !== null && performance.now() >= this.redisAwayUntil) {
      try {
        return await countIn(redis, who);
      } catch (error) {
        this.redisAwayUntil = performance.now() + REDIS_PAUSE_MS;
        this.logger.warn({ err: error }, 'Redis does not count requests; this process counts its own for a while');
      }
    }
    return countIn(memory, who);
  }
}

/** Wrong guesses of a device's code that one person may make in a minute: there are 25 billion codes. */
const GUESSES_PER_MINUTE = 10;

async function countIn(limiter: RateLimiterMemory | RateLimiterRedis, who: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(who);
  } catch (refusal) {
    // The library rejects with the count itself when there is nothing left, and with an error when it could not count.
    if (refusal instanceof Error) throw refusal;
    return refusal as RateLimiterRes;
  }
}

function connect(url: string, logger: Logger): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: REDIS_TIMEOUT_MS,
    connectTimeout: 5_000,
    retryStrategy: (times) => Math.min(times * 200, 2_000),
  });
  redis.on('error', (error) => logger.debug({ err: error }, 'the connection to Redis that counts requests'));
  return redis;
}

/** A list header that already has an item gets another one. */
function append(reply: FastifyReply, name: string, item: string): void {
  const before = reply.getHeader(name);
  void reply.header(name, before === undefined ? item : `${String(before)}, ${item}`);
}

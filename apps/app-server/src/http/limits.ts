import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type LimitClass, limitOf, type Operation } from '@slipway/contracts/operations';
import { SlipwayError } from '@slipway/errors';
import { type WindowCounter, WindowCounters } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { Counter, type Registry } from '@slipway/telemetry/http';
import type { FastifyReply } from 'fastify';
import type { Config } from '../config.js';
import { CONFIG, LOGGER, METRICS } from '../platform/tokens.js';
import { networkOf } from './network-of.js';

/** Window of every bucket. Seconds. */
const WINDOW_SECONDS = 60;
/** Lookups of a device code by one user per minute: there are 25 billion codes. */
const GUESSES_PER_MINUTE = 10;

/**
 * Buckets by name: of one caller (a user, a key), of an organization with all its callers, of an address without a
 * credential.
 */
type BucketName = LimitClass | `org-${LimitClass}` | 'anonymous' | 'guesses';
interface Bucket {
  readonly points: number;
  readonly count: WindowCounter;
}

/**
 * Rate limits per caller, in windows of a minute: reads, writes and starts of conversations apart, for each user or
 * key, and for each organization. Counted in Redis where there is one, for all replicas together. When that does not
 * answer, this process counts by itself: a limit that is looser for a while does less harm than an API that is away.
 */
@Injectable()
export class Limits implements OnApplicationShutdown {
  private readonly buckets: ReadonlyMap<BucketName, Bucket>;
  private readonly counters: WindowCounters;
  private readonly refused: Counter<'bucket'>;

  constructor(@Inject(CONFIG) config: Config, @Inject(LOGGER) logger: Logger, @Inject(METRICS) metrics: Registry) {
    this.counters = new WindowCounters({ redisUrl: config.REDIS_URL, logger });
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
      help: 'Requests refused by a rate limit',
      labelNames: ['bucket'],
      registers: [metrics],
    });
  }

  /**
   * One request of a caller: `who` is the user's or the key's id.
   * @throws SlipwayError `rate.limited` with the seconds until the next window.
   */
  takeOfCaller(operation: Pick<Operation, 'method' | 'limit'>, who: string, reply: FastifyReply): Promise<void> {
    return this.take(limitOf(operation), who, reply);
  }

  /** The same request as one of its organization's. @throws SlipwayError `rate.limited` */
  takeOfOrg(operation: Pick<Operation, 'method' | 'limit'>, orgId: string, reply: FastifyReply): Promise<void> {
    return this.take(`org-${limitOf(operation)}`, orgId, reply);
  }

  /** A request without a credential, by network address. @throws SlipwayError `rate.limited` */
  takeOfAddress(address: string, reply: FastifyReply): Promise<void> {
    return this.take('anonymous', networkOf(address), reply);
  }

  /**
   * A wrong guess of a short code. @throws SlipwayError `rate.limited` when there were too many: the guess is then not
   * answered at all.
   */
  takeGuess(who: string, reply: FastifyReply): Promise<void> {
    return this.take('guesses', who, reply);
  }

  async onApplicationShutdown(): Promise<void> {
    this.counters.close();
  }

  private bucket(name: BucketName, points: number): Bucket {
    return { points, count: this.counters.counter(`rate:${name}`, points, WINDOW_SECONDS) };
  }

  private async take(name: BucketName, who: string, reply: FastifyReply): Promise<void> {
    const { points, count } = this.buckets.get(name) as Bucket;
    const { consumed, msBeforeNext } = await count(who);
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
    append(reply, 'ratelimit-policy', `"${name}";q=${points};w=${WINDOW_SECONDS}`);
    append(reply, 'ratelimit', `"${name}";r=${Math.max(0, points - consumed)};t=${resetSeconds}`);
    if (consumed <= points) return;
    this.refused.inc({ bucket: name });
    throw new SlipwayError('rate.limited', `More than ${points} in a minute (${name}).`, {
      retryAfterSeconds: resetSeconds,
    });
  }
}

/** A list header that already has an item gets another one. */
function append(reply: FastifyReply, name: string, item: string): void {
  const before = reply.getHeader(name);
  void reply.header(name, before === undefined ? item : `${String(before)}, ${item}`);
}

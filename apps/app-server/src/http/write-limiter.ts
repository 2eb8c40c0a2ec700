import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { FastifyReply } from 'fastify';
import { CLOCK } from '../platform/tokens.js';

/** Requests that change something, of one person in one process: this many at once, and as many again in a minute. */
const WRITES_PER_MINUTE = 600;
/** Buckets kept; a full bucket need not be remembered, so the oldest may go. */
const MAX_BUCKETS = 10_000;

/** A token bucket a person. Tells how much is left in `RateLimit` and `RateLimit-Policy` (IETF draft). */
@Injectable()
export class WriteLimiter {
  private readonly buckets = new Map<string, { tokens: number; at: number }>();

  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  /** @throws SlipwayError `rate.limited` with the seconds until the next one. */
  take(userId: string, reply: FastifyReply): void {
    const now = this.clock.now().getTime();
    const before = this.buckets.get(userId) ?? { tokens: WRITES_PER_MINUTE, at: now };
    const filled = Math.min(WRITES_PER_MINUTE, before.tokens + ((now - before.at) * WRITES_PER_MINUTE) / 60_000);
    const allowed = filled >= 1;
    const tokens = allowed ? filled - 1 : filled;
    this.remember(userId, { tokens, at: now });
    const resetSeconds = Math.ceil(((WRITES_PER_MINUTE - tokens) * 60) / WRITES_PER_MINUTE);
    void reply.header('ratelimit-policy', `"writes";q=${WRITES_PER_MINUTE};w=60`).header('ratelimit', `"writes";r=${Math.floor(tokens)};t=${resetSeconds}`);
    if (!allowed)
      throw new SlipwayError('rate.limited', `More than ${WRITES_PER_MINUTE} changes in a minute.`, {
        retryAfterSeconds: Math.max(1, Math.ceil(((1 - tokens) * 60) / WRITES_PER_MINUTE)),
      });
  }

  private remember(userId: string, bucket: { tokens: number; at: number }): void {
    this.buckets.delete(userId);
    const oldest = this.buckets.size >= MAX_BUCKETS ? this.buckets.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.buckets.delete(oldest.value);
    this.buckets.set(userId, bucket);
  }
}

import type { SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { KeyRate, StoredKey } from '../keys/keys.queries.js';
import { bucketNames, RateBucket } from './rate-bucket.js';
import { takeRates } from './rates.queries.js';

export interface RateLimitsOptions {
  readonly pool: SqlPool;
  readonly logger: Logger;
  /** Calls while Postgres is away and what is held is used up: refused, or let in. */
  readonly whenAway: 'closed' | 'open';
}

/** A call that was let in by its limits a minute. */
export interface RateTaken {
  headers(): Readonly<Record<string, string>>;
  /** @param tokens prompt and answer. */
  settle(tokens: number): void;
}

const FREE: RateTaken = { headers: () => ({}), settle: () => {} };

/** Corrections wait for a call that asks anyway, for at most this long. Milliseconds. */
const CORRECT_AFTER_MS = 250;
/** Buckets unused for this long are forgotten. Milliseconds. */
const FORGET_MS = 10 * 60_000;
/** Longest wait for an answer. Milliseconds. */
const ANSWER_MS = 2_500;

interface Need {
  readonly bucket: RateBucket;
  readonly amount: number;
  readonly what: 'requests' | 'tokens';
}

interface Waiting {
  readonly needs: readonly Need[];
  over: boolean;
  readonly signal: AbortSignal;
  readonly abort: () => void;
  resolve(taken: RateTaken): void;
  reject(error: SlipwayError): void;
}

/**
 * Calls and tokens a minute of keys, people, organizations and models, over all replicas: token buckets in Postgres,
 * from which each replica takes a little in advance. A call is never let in beyond its limit; up to `1/120` of a limit
 * a replica may lie unused for five seconds. Tokens are taken by the prompt's upper bound, and by the real count after
 * the call: answers that are under way may bring a bucket below empty.
 */
export class RateLimits {
  private readonly buckets = new Map<string, RateBucket>();
  private ofRate = new WeakMap<KeyRate, { requests: RateBucket | null; tokens: RateBucket | null }>();
  private waiting: Waiting[] = [];
  private readonly owing = new Set<RateBucket>();
  private turn: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;
  private readonly sweeper: NodeJS.Timeout;
  private scheduled = false;

  constructor(private readonly options: RateLimitsOptions) {
    this.sweeper = setInterval(() => this.forget(), FORGET_MS / 2).unref();
  }

  /**
   * At once, or a promise where Postgres must be asked. @throws (and rejects with) SlipwayError `rate.limited`,
   * `service.unavailable`.
   */
  take(key: StoredKey, model: string, promptTokens: number, signal: AbortSignal): RateTaken | Promise<RateTaken> {
    const { rates } = key;
    if (rates === undefined || rates.length === 0) return FREE;
    const now = performance.now();
    const needs: Need[] = [];
    for (const rate of rates) {
      if (rate.kind === 'model' && rate.subject !== model) continue;
      const { requests, tokens } = this.bucketsOf(key.orgId, rate);
      if (requests !== null) needs.push({ bucket: requests, amount: 1, what: 'requests' });
      if (tokens !== null)
        needs.push({ bucket: tokens, amount: Math.min(promptTokens, tokens.capacity), what: 'tokens' });
    }
    if (needs.length === 0) return FREE;
    for (const { bucket, amount } of needs) {
      bucket.usedAt = now;
      if (!bucket.has(amount, now)) return this.ask(needs, signal);
    }
    for (const { bucket, amount } of needs) bucket.left -= amount;
    return this.taken(needs);
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    clearInterval(this.sweeper);
    await this.turn;
  }

  private bucketsOf(orgId: string, rate: KeyRate): { requests: RateBucket | null; tokens: RateBucket | null } {
    let known = this.ofRate.get(rate);
    if (known === undefined) {
      const names = bucketNames(rate);
      known = {
        requests: rate.rpm === null ? null : this.bucket(orgId, names.requests, rate.rpm),
        tokens: rate.tpm === null ? null : this.bucket(orgId, names.tokens, rate.tpm),
      };
      this.ofRate.set(rate, known);
    }
    return known;
  }

  private bucket(orgId: string, name: string, capacity: number): RateBucket {
    const id = `${orgId}\n${name}`;
    let bucket = this.buckets.get(id);
    if (bucket === undefined || bucket.capacity !== capacity) {
      bucket = new RateBucket(orgId, name, capacity);
      this.buckets.set(id, bucket);
    }
    return bucket;
  }

  private taken(needs: readonly Need[]): RateTaken {
    return {
      headers: () => headersOf(needs),
      settle: (tokens) => {
        for (const { bucket, amount, what } of needs) {
          if (what !== 'tokens') continue;
          bucket.correct(tokens - amount);
          if (bucket.debt === 0) continue;
          this.owing.add(bucket);
          this.timer ??= setTimeout(() => {
            this.timer = undefined;
            this.schedule();
          }, CORRECT_AFTER_MS).unref();
        }
      },
    };
  }

  private ask(needs: readonly Need[], signal: AbortSignal): Promise<RateTaken> {
    return new Promise((resolve, reject) => {
      const abort = (): void =>
        this.end(call, new SlipwayError('rate.limited', 'The call was broken off before it was let in.'));
      const call: Waiting = { needs, over: false, signal, abort, resolve, reject };
      signal.addEventListener('abort', abort, { once: true });
      this.waiting.push(call);
      this.schedule();
    });
  }

  private end(call: Waiting, outcome: RateTaken | SlipwayError): void {
    if (call.over) return;
    call.over = true;
    call.signal.removeEventListener('abort', call.abort);
    if (outcome instanceof SlipwayError) call.reject(outcome);
    else call.resolve(outcome);
  }

  private schedule(): void {
    if (this.scheduled || this.turn !== null) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.turn ??= this.run().finally(() => {
        this.turn = null;
        if (this.waiting.length > 0) this.schedule();
      });
    });
  }

  private async run(): Promise<void> {
    const calls = this.waiting;
    this.waiting = [];
    const wanted = new Map<RateBucket, number>();
    const now = performance.now();
    for (const { needs, over } of calls)
      if (!over) for (const { bucket, amount } of needs) wanted.set(bucket, (wanted.get(bucket) ?? 0) + amount);
    for (const bucket of this.owing) if (!wanted.has(bucket)) wanted.set(bucket, 0);
    this.owing.clear();
    const asked = [...wanted].map(([bucket, amount]) => {
      const held = bucket.has(0, now) ? bucket.left : 0;
      const take = {
        o: bucket.orgId,
        k: bucket.name,
        c: bucket.capacity,
        w: amount === 0 ? 0 : Math.max(0, amount - held) + bucket.lease,
        d: bucket.debt,
      };
      bucket.debt = 0;
      return { bucket, take };
    });
    const late = setTimeout(() => this.without(calls, new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
    try {
      const answers =
        asked.length === 0
          ? []
          : await takeRates(
              this.options.pool,
              asked.map(({ take }) => take),
            );
      const then = performance.now();
      asked.forEach(({ bucket }, index) => {
        const answer = answers[index];
        if (answer !== undefined) bucket.filled(answer.g, answer.l, then);
      });
      for (const call of calls) if (!call.over) this.decide(call, then);
      for (const { bucket } of asked) {
        bucket.trim();
        if (bucket.debt !== 0) this.owing.add(bucket);
      }
      if (this.owing.size > 0)
        this.timer ??= setTimeout(() => {
          this.timer = undefined;
          this.schedule();
        }, CORRECT_AFTER_MS).unref();
    } catch (error) {
      for (const { bucket, take } of asked) {
        bucket.debt += take.d;
        if (bucket.debt !== 0) this.owing.add(bucket);
      }
      this.without(calls, error);
    } finally {
      clearTimeout(late);
    }
  }

  private decide(call: Waiting, now: number): void {
    const short = call.needs.filter(({ bucket, amount }) => bucket.left < amount);
    if (short.length === 0) {
      for (const { bucket, amount } of call.needs) bucket.left -= amount;
      return void this.end(call, this.taken(call.needs));
    }
    const seconds = Math.max(
      1,
      Math.ceil(Math.max(...short.map(({ bucket, amount }) => bucket.secondsUntil(amount, now)))),
    );
    const [first] = short;
    const what = first?.what === 'tokens' ? 'tokens' : 'calls';
    const whose = first === undefined ? '' : first.bucket.name.split(' ', 1)[0];
    this.end(
      call,
      new SlipwayError(
        'rate.limited',
        `The limit of ${first?.bucket.capacity} ${what} a minute of this ${whose} is reached; try again in ${seconds} s.`,
        {
          retryAfterSeconds: seconds,
          extensions: { headers: headersOf(call.needs) },
        },
      ),
    );
  }

  private without(calls: readonly Waiting[], cause: unknown): void {
    for (const call of calls) {
      if (this.options.whenAway === 'open') this.end(call, FREE);
      else
        this.end(
          call,
          new SlipwayError('service.unavailable', 'The limits cannot be asked: the database does not answer.', {
            cause,
            retryAfterSeconds: 1,
          }),
        );
    }
  }

  private forget(): void {
    const now = performance.now();
    for (const [id, bucket] of this.buckets) if (now - bucket.usedAt > FORGET_MS) this.buckets.delete(id);
  }
}

/** OpenAI's names. Of several limits the one of which least is left. */
function headersOf(needs: readonly Need[]): Record<string, string> {
  const now = performance.now();
  const headers: Record<string, string> = {};
  for (const what of ['requests', 'tokens'] as const) {
    let tightest: RateBucket | null = null;
    for (const need of needs)
      if (
        need.what === what &&
        (tightest === null ||
          need.bucket.remaining(now) / need.bucket.capacity < tightest.remaining(now) / tightest.capacity)
      )
        tightest = need.bucket;
    if (tightest === null) continue;
    headers[`x-ratelimit-limit-${what}`] = String(tightest.capacity);
    headers[`x-ratelimit-remaining-${what}`] = String(Math.floor(tightest.remaining(now)));
    headers[`x-ratelimit-reset-${what}`] = `${tightest.secondsUntil(tightest.capacity, now).toFixed(3)}s`;
  }
  return headers;
}

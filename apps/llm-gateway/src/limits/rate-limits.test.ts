import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import type { KeyRate, StoredKey } from '../keys/keys.queries.js';
import { RateLimits, type RateTaken } from './rate-limits.js';

let database: TestDatabase;
let owner: SqlPool;
const pools: SqlPool[] = [];
const replicas: RateLimits[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  for (const pool of pools) await pool.end();
  await owner.end();
  await database.close();
});

const logger = createLogger('test', 'silent');
const never = new AbortController().signal;
function replica(whenAway: 'closed' | 'open' = 'closed', url = database.urls.gateway): RateLimits {
  const pool = createPool({ url, max: 2, applicationName: 'test-rates', onError: () => {} });
  const limits = new RateLimits({ pool, logger, whenAway });
  pools.push(pool);
  replicas.push(limits);
  return limits;
}
const keyOf = (rates: readonly KeyRate[], orgId = `org_${randomUUID()}`): StoredKey => ({
  id: 'key_1',
  orgId,
  conversationId: randomUUID(),
  userId: 'usr_1',
  models: [],
  hash: Buffer.alloc(32),
  expiresAt: Number.MAX_SAFE_INTEGER,
  revokedAt: null,
  stop: null,
  rates,
});
const rate = (kind: KeyRate['kind'], subject: string, rpm: number | null, tpm: number | null = null): KeyRate => ({
  kind,
  subject,
  rpm,
  tpm,
});

interface Outcome {
  readonly taken: RateTaken | null;
  readonly code: string;
  readonly retryAfter: number | undefined;
}
async function take(limits: RateLimits, key: StoredKey, tokens = 1, model = 'm'): Promise<Outcome> {
  try {
    return { taken: await limits.take(key, model, tokens, never), code: 'taken', retryAfter: undefined };
  } catch (error) {
    const { code, more } = error as { code: string; more: { retryAfterSeconds?: number } };
    return { taken: null, code, retryAfter: more.retryAfterSeconds };
  }
}
const count = (outcomes: readonly Outcome[]): number => outcomes.filter(({ code }) => code === 'taken').length;

describe('calls a minute', () => {
  it('are never more than the limit, over three replicas that race, and not fewer', async () => {
    const key = keyOf([rate('key', 'key_1', 30)]);
    const three = [replica(), replica(), replica()];
    const began = performance.now();
    const outcomes = await Promise.all(
      Array.from({ length: 120 }, (_, index) => take(three[index % 3] as RateLimits, { ...key })),
    );
    // What fills up while they race is let in too.
    const filled = Math.ceil(((performance.now() - began) / 60_000) * 30);
    expect(count(outcomes)).toBeGreaterThanOrEqual(28);
    expect(count(outcomes)).toBeLessThanOrEqual(30 + filled);
    for (const { code, retryAfter } of outcomes.filter(({ taken }) => taken === null)) {
      expect(code).toBe('rate.limited');
      expect(retryAfter).toBeGreaterThanOrEqual(1);
      expect(retryAfter).toBeLessThanOrEqual(60);
    }
  });

  it('far from the limit are let in without asking', async () => {
    const limits = replica();
    const key = keyOf([rate('key', 'key_1', 1_000_000), rate('org', '', 1_000_000)]);
    await take(limits, key);
    expect(limits.take(key, 'm', 1, never)).not.toBeInstanceOf(Promise);
  });

  it('are limited by the organization, the user, the key and the model that is called, whichever is first', async () => {
    const limits = replica();
    for (const kind of ['org', 'member', 'key', 'model'] as const) {
      const key = keyOf(
        (['org', 'member', 'key', 'model'] as const).map((each) =>
          rate(each, each === 'model' ? 'm' : 'x', each === kind ? 1 : 100),
        ),
      );
      expect([kind, (await take(limits, key)).code, (await take(limits, key)).code]).toEqual([
        kind,
        'taken',
        'rate.limited',
      ]);
      if (kind === 'model') expect((await take(limits, key, 1, 'another')).code).toBe('taken');
    }
  });

  it('come back evenly, and say in the usual headers how many there are', async () => {
    const limits = replica();
    const key = keyOf([rate('key', 'key_1', 60)]);
    const began = performance.now();
    const first = await take(limits, key);
    expect(first.taken?.headers()).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': expect.stringMatching(/^(0\.\d|1\.0)\d\ds$/),
    });
    await Promise.all(Array.from({ length: 80 }, () => take(limits, key)));
    await owner.query(`UPDATE gateway.rate_bucket SET at = at - interval '30 seconds' WHERE org_id = $1`, [key.orgId]);
    const again = count(await Promise.all(Array.from({ length: 60 }, () => take(limits, key))));
    expect(again).toBeGreaterThanOrEqual(29);
    // One a second comes back while this runs too.
    expect(again).toBeLessThanOrEqual(31 + Math.ceil((performance.now() - began) / 1_000));
  });
});

describe('tokens a minute', () => {
  it('are taken by the bound of the prompt and corrected by what was used', async () => {
    const limits = replica();
    const key = keyOf([rate('key', 'key_1', null, 1_000)]);
    const first = await take(limits, key, 900);
    expect((await take(limits, key, 300)).code).toBe('rate.limited');
    first.taken?.settle(100);
    await until('what was not used came back', async () => (await take(limits, key, 300)).code === 'taken');
    const large = await take(limits, key, 100);
    large.taken?.settle(5_000);
    await until('what was used beyond it is owed', async () => (await take(limits, key, 1)).code === 'rate.limited');
  });

  it('let in a call that is larger than a whole minute, once all of it is there', async () => {
    const limits = replica();
    const key = keyOf([rate('key', 'key_1', null, 1_000)]);
    expect((await take(limits, key, 50_000)).code).toBe('taken');
    expect((await take(limits, key, 1)).code).toBe('rate.limited');
  });
});

describe('limits without a database', () => {
  it('refuse with service.unavailable or let in, as the setting says', async () => {
    const nowhere = 'postgresql://nobody:x@127.0.0.1:1/none';
    const key = keyOf([rate('key', 'key_1', 10)]);
    expect((await take(replica('closed', nowhere), key)).code).toBe('service.unavailable');
    expect((await take(replica('open', nowhere), key)).code).toBe('taken');
  });
});

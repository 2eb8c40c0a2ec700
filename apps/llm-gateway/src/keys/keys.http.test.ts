import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, inOrg } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { stopwatch, until } from '@slipway/testing';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';
import { KEY_TTL_MS, KeyCache } from './key-cache.js';
import type { StoredKey } from './keys.queries.js';
import { makeKeyToken } from './virtual-key-token.js';

const whole = { model: MODEL, messages: [{ role: 'user', content: 'hi' }] };
const ids = createIds(systemClock);
/** From this age on a key's entry is renewed. Milliseconds. */
const FRESH_MS = 2_000;

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
  test.model.use(() => ({ text: 'ok' }));
});
afterAll(() => test.close());

const ask = async (key: string): Promise<number> => {
  const response = await test.post('/v1/chat/completions', whole, key);
  await response.arrayBuffer();
  return response.status;
};
const generate = (body: unknown, key = MASTER_KEY): Promise<Response> => test.post('/key/generate', body, key);
const metadata = (conversationId = randomUUID(), orgId = 'org_1'): object => ({
  metadata: { org_id: orgId, conversation_id: conversationId },
});

/** How often the gateway has asked the database for a key. */
async function lookups(): Promise<number> {
  const text = await (await fetch(`${test.gateway.metricsUrl}/metrics`)).text();
  return [...text.matchAll(/^llm_key_lookups_total\{[^}]*\} (\d+)$/gm)].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}

describe('POST /key/generate', () => {
  it('200: gives a key that works, of which only the hash is stored', async () => {
    const response = await generate({ ...metadata(), duration_seconds: 60 });
    expect(response.status).toBe(200);
    const { key, key_id: keyId, expires } = (await response.json()) as { key: string; key_id: string; expires: string };
    expect(key).toMatch(/^slp_llm_/);
    expect(Math.abs(Date.parse(expires) - Date.now() - 60_000)).toBeLessThan(5_000);
    expect(await ask(key)).toBe(200);
    const { rows } = await test.owner.query('SELECT * FROM gateway.virtual_key WHERE id = $1', [keyId]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows[0])).not.toContain(key.slice(-39));
  });

  it('400: names the fields that are wrong', async () => {
    for (const body of [
      { metadata: { org_id: 'org_1', conversation_id: 'no uuid' } },
      { ...metadata(), duration_seconds: 0 },
      { duration: 'soon' },
      { max_budget: -1 },
      { team_id: 'org_2', ...metadata() },
      'not json',
    ]) {
      expect((await generate(body)).status).toBe(400);
    }
  });

  it('401: without the master key, with one of another length, and with a conversation key', async () => {
    const key = await test.key(randomUUID());
    for (const wrong of ['', 'x', `${MASTER_KEY}x`, MASTER_KEY.slice(0, -1), key])
      expect((await generate(metadata(), wrong)).status).toBe(401);
    expect(await ask(MASTER_KEY)).toBe(401);
  });

  it('ends the keys that the conversation had, at once in the same process', async () => {
    const conversationId = randomUUID();
    const first = await test.key(conversationId);
    expect(await ask(first)).toBe(200);
    const second = await test.key(conversationId);
    expect(await ask(first)).toBe(401);
    expect(await ask(second)).toBe(200);
  });

  it('lets a key that is replaced with grace work on for that long and no longer, and ends it at once with the others when they are ended', async () => {
    const conversationId = randomUUID();
    const first = await test.key(conversationId);
    const second = await test.key(conversationId, { grace_seconds: 60 });
    expect([await ask(first), await ask(second)]).toEqual([200, 200]);
    const { rows } = await test.owner.query<{ left: number | null }>(
      `SELECT extract(epoch FROM revoked_at - now())::float8 AS left FROM gateway.virtual_key WHERE conversation_id = $1 ORDER BY created_at`,
      [conversationId],
    );
    expect(rows[0]?.left).toBeLessThanOrEqual(61);
    expect(rows[1]?.left).toBeNull();
    // Being replaced again gives it no more time.
    const third = await test.key(conversationId, { grace_seconds: 300 });
    const again = await test.owner.query<{ left: number | null }>(
      `SELECT extract(epoch FROM revoked_at - now())::float8 AS left FROM gateway.virtual_key WHERE conversation_id = $1 ORDER BY created_at LIMIT 1`,
      [conversationId],
    );
    expect(again.rows[0]?.left).toBeLessThanOrEqual(61);
    expect([await ask(first), await ask(second), await ask(third)]).toEqual([200, 200, 200]);
    await test.post('/key/delete', { conversation_id: conversationId }, MASTER_KEY);
    expect([await ask(first), await ask(second), await ask(third)]).toEqual([401, 401, 401]);
    const [fourth, fifth] = [await test.key(conversationId), await test.key(conversationId, { grace_seconds: 60 })];
    expect([await ask(third), await ask(fourth), await ask(fifth)]).toEqual([401, 200, 200]);
    const last = await test.key(conversationId);
    expect([await ask(fourth), await ask(fifth), await ask(last)]).toEqual([401, 401, 200]);
    expect((await generate({ ...metadata(), grace_seconds: 301 })).status).toBe(400);
  });

  it('leaves exactly one key that works when many are made at once for one conversation', async () => {
    const conversationId = randomUUID();
    const keys = await Promise.all(Array.from({ length: 20 }, () => test.key(conversationId)));
    const { rows } = await test.owner.query(
      'SELECT id FROM gateway.virtual_key WHERE conversation_id = $1 AND revoked_at IS NULL',
      [conversationId],
    );
    expect(rows).toHaveLength(1);
    const statuses = await Promise.all(keys.map(ask));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});

describe('POST /key/delete', () => {
  it('200: ends the keys of the conversation and of no other, and is harmless when repeated', async () => {
    const conversationId = randomUUID();
    const [key, other] = [await test.key(conversationId), await test.key(randomUUID())];
    expect([await ask(key), await ask(other)]).toEqual([200, 200]);
    const end = (): Promise<Response> => test.post('/key/delete', { conversation_id: conversationId }, MASTER_KEY);
    expect(((await (await end()).json()) as { deleted_keys: string[] }).deleted_keys).toHaveLength(1);
    expect([await ask(key), await ask(other)]).toEqual([401, 200]);
    expect(((await (await end()).json()) as { deleted_keys: string[] }).deleted_keys).toEqual([]);
  });

  it('401: without the master key', async () => {
    expect(
      (await test.post('/key/delete', { conversation_id: randomUUID() }, await test.key(randomUUID()))).status,
    ).toBe(401);
  });
});

describe('GET /v1/models', () => {
  it('200: lists the configured model as default and the demo model as such, for a key and for the master key', async () => {
    for (const key of [await test.key(randomUUID()), MASTER_KEY]) {
      const response = await fetch(`${test.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await response.json()) as { data: Array<{ id: string; demo: boolean; default: boolean }> };
      expect(data.map(({ id, demo, default: isDefault }) => [id, demo, isDefault])).toEqual([
        [MODEL, false, true],
        ['slipway-demo', true, false],
      ]);
    }
  });

  it('401: without a key', async () => {
    expect((await fetch(`${test.gateway.url}/v1/models`)).status).toBe(401);
  });
});

describe('a key', () => {
  it('that was ended elsewhere stops to work within five seconds', async () => {
    const conversationId = randomUUID();
    const key = await test.key(conversationId);
    expect(await ask(key)).toBe(200);
    const passed = stopwatch();
    await test.owner.query('UPDATE gateway.virtual_key SET revoked_at = now() WHERE conversation_id = $1', [
      conversationId,
    ]);
    await until('it is refused', async () => (await ask(key)) === 401);
    expect(passed()).toBeLessThan(5_000);
  });

  it('stops to work when it expires, without asking the database', async () => {
    const stored = (expiresAt: number, hash: Buffer): StoredKey => ({
      id: 'x',
      orgId: 'o',
      conversationId: 'c',
      userId: null,
      models: [],
      hash,
      expiresAt,
      revokedAt: null,
      stop: null,
    });
    const { token, hash } = makeKeyToken(ids.prefixed('key'));
    let now = 1_000_000;
    let asked = 0;
    const cache = new KeyCache(
      async () => {
        asked += 1;
        return stored(1_001_000, hash);
      },
      { now: () => new Date(now) },
    );
    await cache.authenticate(token);
    now = 1_000_999;
    await cache.authenticate(token);
    now = 1_001_000;
    expect(() => cache.authenticate(token)).toThrow('expired');
    expect(asked).toBe(1);
  });

  it('with the id of a real key and another secret is refused', async () => {
    const key = await test.key(randomUUID());
    const forged = makeKeyToken(`key_${key.slice('slp_llm_'.length).split('_')[0]}`);
    expect(await ask(forged.token)).toBe(401);
    expect(await ask(key)).toBe(200);
  });

  it('is read once for many calls at the same moment, and not again while it is fresh', async () => {
    const key = await test.key(randomUUID());
    const [before, began] = [await lookups(), performance.now()];
    await Promise.all(Array.from({ length: 30 }, () => ask(key)));
    const made = (await lookups()) - before;
    expect(made).toBeGreaterThanOrEqual(1);
    expect(made).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / FRESH_MS));
  });
});

describe('a flood of bad keys', () => {
  it('with a wrong checksum never reaches the database', async () => {
    const key = await test.key(randomUUID());
    const before = await lookups();
    const bad = Array.from(
      { length: 300 },
      (_, index) => `${key.slice(0, -6)}${String(index).padStart(6, '0')}`,
    ).filter((candidate) => candidate !== key);
    const statuses = await Promise.all(bad.map(ask));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await lookups()).toBe(before);
  });

  it('with a right checksum takes at most a few lookups at a time, and good keys go on', async () => {
    let underWay = 0;
    let most = 0;
    const good = makeKeyToken(ids.prefixed('key'));
    const goodId = `key_${good.token.split('_')[2]}`;
    const cache = new KeyCache(async (keyId) => {
      // The good one may be renewed meanwhile, beside them.
      const counts = keyId === goodId ? 0 : 1;
      underWay += counts;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= counts;
      return keyId === goodId
        ? {
            id: keyId,
            orgId: 'o',
            conversationId: 'c',
            userId: null,
            models: [],
            hash: good.hash,
            expiresAt: Number.MAX_SAFE_INTEGER,
            revokedAt: null,
            stop: null,
          }
        : null;
    }, systemClock);
    await cache.authenticate(good.token);
    const flood = Array.from({ length: 2_000 }, async () => {
      try {
        await cache.authenticate(makeKeyToken(ids.prefixed('key')).token);
        return 'in';
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    expect(await cache.authenticate(good.token)).toMatchObject({ id: goodId });
    const codes = await Promise.all(flood);
    expect(new Set(codes)).toEqual(new Set(['auth.missing', 'rate.limited']));
    expect(most).toBeLessThanOrEqual(16);
  });

  it('with one unknown key asks the database once in its whole time to live', async () => {
    const { token } = makeKeyToken(ids.prefixed('key'));
    const [before, began] = [await lookups(), performance.now()];
    for (let index = 0; index < 50; index += 1) expect(await ask(token)).toBe(401);
    const made = (await lookups()) - before;
    expect(made).toBeGreaterThanOrEqual(1);
    expect(made).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / KEY_TTL_MS));
    expect(KEY_TTL_MS).toBeLessThanOrEqual(5_000);
  });
});

describe('without a database', () => {
  it('a key that is not known yet is refused with service.unavailable, and nothing reaches the provider', async () => {
    let fail = true;
    const { token, hash } = makeKeyToken(ids.prefixed('key'));
    const cache = new KeyCache(async (id) => {
      if (fail) throw new Error('connection refused');
      return {
        id,
        orgId: 'o',
        conversationId: 'c',
        userId: null,
        models: [],
        hash,
        expiresAt: Number.MAX_SAFE_INTEGER,
        revokedAt: null,
        stop: null,
      };
    }, systemClock);
    await expect(async () => cache.authenticate(token)).rejects.toMatchObject({ code: 'service.unavailable' });
    fail = false;
    expect(await cache.authenticate(token)).toMatchObject({ orgId: 'o' });
  });
});

describe('row-level security', () => {
  it('hides keys and ledger of other organizations, even from a query without a filter', async () => {
    const [mine, foreign] = [randomUUID(), randomUUID()];
    await (await generate(metadata(mine, 'org_a'))).json();
    const { key } = (await (await generate(metadata(foreign, 'org_b'))).json()) as { key: string };
    await ask(key);
    await test.ledger(foreign, 1);
    const pool = createPool({ url: test.database.urls.gateway, max: 1, applicationName: 'test', onError: () => {} });
    try {
      const seen = await inOrg(pool, 'org_a', async (client) => ({
        keys: (await client.query<{ org_id: string }>('SELECT org_id FROM gateway.virtual_key')).rows,
        ledger: (await client.query<{ org_id: string }>('SELECT org_id FROM gateway.ledger')).rows,
      }));
      expect([...new Set(seen.keys.map((row) => row.org_id))]).toEqual(['org_a']);
      expect(seen.ledger).toEqual([]);
      expect((await pool.query('SELECT 1 FROM gateway.virtual_key')).rowCount).toBe(0);
      await expect(
        inOrg(pool, 'org_a', (client) => client.query("UPDATE gateway.virtual_key SET org_id = 'org_a'")),
      ).resolves.toMatchObject({
        rowCount: seen.keys.length,
      });
      await expect(inOrg(pool, 'org_b', (client) => client.query('DELETE FROM gateway.ledger'))).rejects.toThrow(
        'permission denied',
      );
      await expect(
        inOrg(pool, 'org_b', (client) => client.query('UPDATE gateway.ledger SET cost_usd = 0')),
      ).rejects.toThrow('permission denied');
    } finally {
      await pool.end();
    }
  });

  it('is forced on every table of the schema that has org_id', async () => {
    const { rows } = await test.owner.query<{ relname: string }>(
      `SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
       WHERE c.relnamespace = 'gateway'::regnamespace AND c.relkind IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`,
    );
    expect(rows).toEqual([]);
  });
});

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { createLocalJWKSet, type JWK, jwtVerify, SignJWT } from 'jose';
import pg from 'pg';
import { MASTER_KEY_COLUMNS, renewMasterColumn } from '../envelope/index.js';
import { SecretBox } from '../secret-box/secret-box.js';
import { IdentityKeys } from './index.js';

const DAY_MS = 86_400_000;
const MASTER = 'a master key of the test, which is long enough';

describe('the keys of workload identity', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  let time = Date.parse('2026-01-01T00:00:00Z');
  const clock = { now: () => new Date(time) };
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 8, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  beforeEach(() => owner.query('DELETE FROM app.identity_key'));
  afterAll(async () => {
    await pool?.end();
    await owner?.end();
    await database?.close();
  });

  const replica = (box = new SecretBox(MASTER)) => new IdentityKeys(pool, box, clock);
  const idsOf = async (keys: IdentityKeys) => (await keys.published()).map(({ kid }) => kid);
  const signed = async (keys: IdentityKeys): Promise<string> => {
    const { id, key } = await keys.signing();
    return new SignJWT({ exp: Math.floor(time / 1000) + 600 }).setProtectedHeader({ alg: 'ES256', kid: id }).sign(key);
  };
  const verify = async (token: string, keys: IdentityKeys) =>
    jwtVerify(token, createLocalJWKSet({ keys: [...(await keys.published())] }), { currentDate: clock.now() });

  it('are one that signs and the next, whichever replica asks first, and no private part is published', async () => {
    const replicas = Array.from({ length: 6 }, () => replica());
    const published = await Promise.all(replicas.map((each) => each.published()));
    const [first] = published as [readonly JWK[]];
    expect(first).toHaveLength(2);
    for (const each of published) expect(each).toEqual(first);
    for (const { kid, x, y, ...rest } of first) {
      expect(rest).toEqual({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
      const thumbprint = createHash('sha256').update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }));
      expect(kid).toBe(thumbprint.digest('base64url'));
    }
    const signers = await Promise.all(replicas.map((each) => each.signing()));
    expect(new Set(signers.map(({ id }) => id)).size).toBe(1);
    const { rows } = await owner.query<{ row: string }>('SELECT k::text AS row FROM app.identity_key k');
    expect(JSON.stringify(rows)).not.toMatch(/"d"|PRIVATE/);
  });

  it('change each month: the next one was published all the time, and the last one until its tokens have ended', async () => {
    const [one, stale] = [replica(), replica()];
    const before = await idsOf(one);
    await idsOf(stale);
    const old = await signed(one);
    time += 30 * DAY_MS - 300_000;
    const last = await signed(one);
    expect(await idsOf(one)).toEqual(before);
    time += 300_001;
    const next = await signed(one);
    const after = await idsOf(one);
    expect(after).toEqual([...before, expect.any(String)]);
    const kid = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
    expect([kid(old), kid(last), kid(next)]).toEqual([before[0], before[0], before[1]]);
    await verify(last, one);
    await verify(next, one);
    // A verifier that has read the keys at any time of the month before knows the one that signs now.
    expect(before).toContain(kid(next));
    time += 3_600_000;
    expect(await idsOf(one)).toEqual(after.slice(1));
    await expect(verify(last, one)).rejects.toThrow();
    expect(kid(await signed(stale))).toBe(before[1]);
  });

  it('adversary: many replicas at the moment of a change make one new key', async () => {
    await replica().published();
    time += 31 * DAY_MS;
    const lists = await Promise.all(Array.from({ length: 6 }, () => idsOf(replica())));
    expect(new Set(lists.map((list) => list.join())).size).toBe(1);
    expect(lists[0]).toHaveLength(2);
  });

  it('are sealed under the master key, and go over to another', async () => {
    const { id } = await replica().signing();
    const other = 'another master key of the test, long enough';
    await expect(replica(new SecretBox(other)).signing()).rejects.toThrow();
    const column = MASTER_KEY_COLUMNS.find(({ table }) => table === 'app.identity_key');
    expect(column).toBeDefined();
    if (column === undefined) return;
    expect(await renewMasterColumn(pool, new SecretBox(other, MASTER), column)).toEqual({ renewed: 2, unopened: [] });
    expect((await replica(new SecretBox(other)).signing()).id).toBe(id);
    await owner.query('UPDATE app.identity_key SET id = id || $1', ['x']);
    await expect(replica(new SecretBox(other)).signing()).rejects.toThrow();
  });
});

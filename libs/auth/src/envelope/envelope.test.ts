import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import fc from 'fast-check';
import pg from 'pg';
import { SecretBox } from '../secret-box/secret-box.js';
import { dropDataKeys, Envelope, renewMasterColumn, renewValues, rewrapDataKeys, rotateDataKeys } from './index.js';
import { DATA_KEY_COLUMNS, MASTER_KEY_COLUMNS, packKeyContext, secretContext } from './sealed-columns.js';

const KEYS = Array.from({ length: 6 }, (_, index) => `master key number ${index} of the test, long enough`);
const [SECRETS] = DATA_KEY_COLUMNS as [(typeof DATA_KEY_COLUMNS)[0], ...typeof DATA_KEY_COLUMNS];

class MovableClock {
  private time = Date.parse('2026-01-01T00:00:00Z');
  now(): Date {
    return new Date(this.time);
  }
  advance(ms: number): void {
    this.time += ms;
  }
}

describe('values under the data key of an organization', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: pg.Client;
  const clock = new MovableClock();
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 6, applicationName: 'test', onError: () => {} });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await pool?.end();
    await owner?.end();
    await database?.close();
  });

  const nameOf = (index: number): string => `NAME_${index}`;
  const context = (index: number): string =>
    secretContext({ kind: 'variable', scope: 'org', scopeValue: '', name: nameOf(index) });
  const write = async (envelope: Envelope, org: string, index: number, value: string): Promise<void> => {
    const { bytes, keyVersion } = await envelope.seal(org, value, context(index));
    await inOrg(pool, org, (client) =>
      client.query(
        `INSERT INTO app.secret (id, org_id, name, kind, scope, scope_value, description, sealed, key_version, masked, created_by, created_by_label, updated_by, updated_by_label)
         VALUES ($1 || $2, $1, $2, 'variable', 'org', '', '', $3, $4, true, 'u', 'u', 'u', 'u')
         ON CONFLICT (org_id, scope, scope_value, name) DO UPDATE SET sealed = EXCLUDED.sealed, key_version = EXCLUDED.key_version`,
        [org, nameOf(index), bytes, keyVersion],
      ),
    );
  };
  const read = async (envelope: Envelope, org: string, index: number): Promise<string | null> => {
    const { rows } = await inOrg(pool, org, (client) =>
      client.query<{ sealed: Buffer; key_version: number }>(
        'SELECT sealed, key_version FROM app.secret WHERE org_id = $1 AND name = $2',
        [org, nameOf(index)],
      ),
    );
    return rows[0] === undefined
      ? null
      : envelope.open(org, { bytes: rows[0].sealed, keyVersion: rows[0].key_version }, context(index));
  };

  it('open in their organization and at their place alone', async () => {
    const envelope = new Envelope(pool, new SecretBox(KEYS[0] as string), clock);
    const sealed = await envelope.seal('org_a', 'a value', context(1));
    await envelope.seal('org_b', 'another', context(1));
    expect(await envelope.open('org_a', sealed, context(1))).toBe('a value');
    await expect(envelope.open('org_a', sealed, context(2))).rejects.toThrow();
    await expect(envelope.open('org_b', sealed, context(1))).rejects.toThrow();
    await expect(envelope.open('org_c', sealed, context(1))).rejects.toThrow('no data key 1');
    const { rows } = await owner.query(
      "SELECT encode(wrapped, 'base64') AS wrapped, org_id FROM app.org_data_key WHERE org_id IN ('org_a', 'org_b')",
    );
    expect(new Set(rows.map(({ wrapped }) => wrapped)).size).toBe(2);
  });

  it('are under one first data key, whoever seals first', async () => {
    const envelopes = Array.from({ length: 6 }, () => new Envelope(pool, new SecretBox(KEYS[0] as string), clock));
    const sealed = await Promise.all(envelopes.map((envelope) => envelope.seal('org_race', 'v', context(0))));
    for (const envelope of envelopes)
      for (const value of sealed) expect(await envelope.open('org_race', value, context(0))).toBe('v');
  });

  it('are sealed again with the organization’s next data key, those of packs too', async () => {
    const [org, id, column] = ['org_packs', '0'.repeat(32), DATA_KEY_COLUMNS.find(({ table }) => table === 'app.pack')];
    if (column === undefined) throw new Error('packs have a sealed column');
    const envelope = new Envelope(pool, new SecretBox(KEYS[0] as string), clock);
    const sealed = await envelope.seal(org, 'key of a pack', packKeyContext({ id }));
    await owner.query(
      'INSERT INTO app.pack (org_id, id, bytes, live_bytes, wrapped_key, key_version, stored_by) VALUES ($1, $2, 1, 1, $3, $4, gen_random_uuid())',
      [org, id, sealed.bytes, sealed.keyVersion],
    );
    await envelope.rotate(org);
    expect(await renewValues(pool, envelope, column)).toEqual({ renewed: 1, unopened: [] });
    await dropDataKeys(pool, new Date(Date.now() + 2 * 3_600_000));
    const { rows } = await owner.query<{ wrapped_key: Buffer; key_version: number }>(
      'SELECT wrapped_key, key_version FROM app.pack WHERE id = $1',
      [id],
    );
    const [{ wrapped_key: bytes, key_version: keyVersion }] = rows as [(typeof rows)[0]];
    expect(keyVersion).toBe(2);
    expect(await envelope.open(org, { bytes, keyVersion }, packKeyContext({ id }))).toBe('key of a pack');
    await expect(envelope.open(org, { bytes, keyVersion }, packKeyContext({ id: '1'.repeat(32) }))).rejects.toThrow();
    await owner.query('DELETE FROM app.pack WHERE id = $1', [id]);
  });

  /**
   * The command beside services: each step in any order, two at a time, with readers that hold old keys and readers
   * that start fresh.
   */
  it('are never lost, whatever is read, written and rotated at the same time', async () => {
    let run = 0;
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('write' as const),
        index: fc.nat(3),
        value: fc.string({ unit: 'grapheme', maxLength: 20 }),
        by: fc.nat(1),
      }),
      fc.record({ kind: fc.constant('read' as const), index: fc.nat(3), by: fc.nat(1) }),
      fc.record({
        kind: fc.constantFrom(
          'master' as const,
          'rewrap' as const,
          'data' as const,
          'renew' as const,
          'drop' as const,
          'restart' as const,
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.option(step)), { minLength: 4, maxLength: 14 }), async (steps) => {
        run += 1;
        const org = `org_p${run}`;
        const time = new MovableClock();
        let master = 0;
        let settled = true;
        const boxOf = (): SecretBox =>
          new SecretBox(KEYS[master] as string, master === 0 ? undefined : KEYS[master - 1]);
        const start = (): Envelope[] => [0, 1].map(() => new Envelope(pool, boxOf(), time));
        let services = start();
        const wrote = new Map<number, Set<string>>();
        const take = async (each: (typeof steps)[0][0]): Promise<void> => {
          const service = services['by' in each ? each.by : 0] as Envelope;
          switch (each.kind) {
            case 'write':
              wrote.set(each.index, (wrote.get(each.index) ?? new Set()).add(each.value));
              return write(service, org, each.index, each.value);
            case 'read': {
              const value = await read(service, org, each.index);
              if (value !== null) expect(wrote.get(each.index)).toContain(value);
              return;
            }
            case 'rewrap':
              expect((await rewrapDataKeys(pool, boxOf())).unopened).toEqual([]);
              return;
            case 'data':
              await rotateDataKeys(pool, service, new Date(Date.now() + 60_000));
              return;
            case 'renew':
              expect((await renewValues(pool, service, SECRETS)).unopened).toEqual([]);
              return;
            case 'drop':
              time.advance(2 * 60_000);
              await dropDataKeys(pool, new Date(Date.now() + 2 * 3_600_000));
              return;
            default:
              services = start();
          }
        };
        for (const [first, second] of steps) {
          // The master key is changed for all at once, and the next time only when the keys before it are not needed
          // any more.
          if (first.kind === 'master') {
            if (!settled) await rewrapDataKeys(pool, boxOf());
            master = Math.min(master + 1, KEYS.length - 1);
            settled = false;
            services = start();
            continue;
          }
          // What was sealed an hour before a data key is dropped has long been stored: nothing is under way then.
          const alone = ['drop', 'restart'];
          const beside =
            second === null || second.kind === 'master' || alone.includes(second.kind) || alone.includes(first.kind)
              ? []
              : [take(second)];
          await Promise.all([take(first), ...beside]);
        }
        await rewrapDataKeys(pool, boxOf());
        const alone = new Envelope(pool, new SecretBox(KEYS[master] as string), time);
        for (const [index, values] of wrote) expect(values).toContain(await read(alone, org, index));
        await owner.query('DELETE FROM app.secret WHERE org_id = $1', [org]);
        await owner.query('DELETE FROM app.org_data_key');
      }),
      { numRuns: 25 },
    );
  });

  it('a data key that a value is under is not deleted, not even without a check before', async () => {
    const envelope = new Envelope(pool, new SecretBox(KEYS[0] as string), clock);
    await write(envelope, 'org_keep', 0, 'kept');
    await expect(inOrg(pool, 'org_keep', (client) => client.query('DELETE FROM app.org_data_key'))).rejects.toThrow(
      /foreign key/,
    );
    expect(await read(envelope, 'org_keep', 0)).toBe('kept');
  });

  it('what stands directly under the master key is put under the new one, and a place that no key opens is named and left', async () => {
    const [old, fresh] = [new SecretBox(KEYS[0] as string), new SecretBox(KEYS[1] as string, KEYS[0])];
    const id = '0198c0de-0000-7000-8000-00000000000';
    for (const [index, sealed] of [
      old.encrypt('key 0', `sandbox-key:${id}0`),
      fresh.encrypt('key 1', `sandbox-key:${id}1`),
      Buffer.from('broken'),
    ].entries())
      await owner.query(
        "INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, sandbox_key) VALUES ($1, 'org', 'u', 'u', 't', 'm', $2)",
        [`${id}${index}`, sealed],
      );
    const column = MASTER_KEY_COLUMNS.find(
      ({ table }) => table === 'app.conversation',
    ) as (typeof MASTER_KEY_COLUMNS)[0];
    expect(await renewMasterColumn(pool, fresh, column)).toEqual({
      renewed: 1,
      unopened: [`app.conversation.sandbox_key ${id}2`],
    });
    expect(await renewMasterColumn(pool, fresh, column)).toMatchObject({ renewed: 0 });
    const { rows } = await owner.query<{ sandbox_key: Buffer }>('SELECT sandbox_key FROM app.conversation ORDER BY id');
    const alone = new SecretBox(KEYS[1] as string);
    expect(rows.slice(0, 2).map((row, index) => alone.decrypt(row.sandbox_key, `sandbox-key:${id}${index}`))).toEqual([
      'key 0',
      'key 1',
    ]);
    expect(rows[2]?.sandbox_key.toString()).toBe('broken');
  });
});

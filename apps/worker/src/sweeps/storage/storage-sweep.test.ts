import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { Registry } from '@slipway/telemetry/http';
import pg from 'pg';
import { saveSnapshot } from '../../conversations/conversation.queries.js';
import { ConversationLocks } from '../../conversations/conversation-locks.js';
import { type Harness, ORG, openHarness } from '../../testing/harness.js';
import { writeDefaultLimit } from './storage.queries.js';
import { StorageSweep, storageGauges } from './storage-sweep.js';

const MIB = 2 ** 20;
const BLOCK = 64 * 1024;
const logger = createLogger('storage-test', 'silent');

describe('storage', () => {
  let harness: Harness;
  let owner: pg.Pool;
  let locks: ConversationLocks;
  let sweep: StorageSweep;
  const metrics = new Registry();
  beforeAll(async () => {
    harness = await openHarness();
    owner = new pg.Pool({ connectionString: harness.database.ownerUrl, max: 2 });
    locks = new ConversationLocks({ databaseUrl: harness.database.urls.app, applicationName: 'storage-test', logger });
    sweep = new StorageSweep(harness.pool, locks, logger, metrics);
    storageGauges(harness.pool, metrics);
    await owner.query(
      `INSERT INTO app.org (id, slug, name, kind) VALUES ($1, 'test', 'Test', 'company') ON CONFLICT (id) DO NOTHING`,
      [ORG],
    );
  });
  afterAll(async () => {
    await sweep?.close();
    await locks?.close();
    await owner?.end();
    await harness?.close();
  });

  const counts = async (id: string) =>
    (
      await owner.query<{ log: number; snapshot: number; granted: number; used: number }>(
        `SELECT c.log_bytes::int AS log, c.snapshot_bytes::int AS snapshot, c.granted_bytes::int AS granted, s.used_bytes::int AS used
         FROM app.conversation c JOIN app.org_storage s ON s.org_id = c.org_id WHERE c.id = $1`,
        [id],
      )
    ).rows[0];
  const granted = async (): Promise<number> =>
    Number(
      (
        await owner.query('SELECT coalesce(sum(granted_bytes), 0) AS bytes FROM app.conversation WHERE org_id = $1', [
          ORG,
        ])
      ).rows[0]?.bytes,
    );
  const value = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.metrics())?.[1]);
  const settleAgain = (): Promise<unknown> =>
    owner.query(`UPDATE app.org_storage SET counted_at = now() - interval '1 hour'`);

  it('counts rows of before there were counts, corrects manual changes, and finds nothing the second time', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    await owner.query('UPDATE app.conversation SET log_bytes = 7, granted_bytes = 0 WHERE id = $1', [id]);
    await owner.query(
      'INSERT INTO app.org_storage (org_id, used_bytes) VALUES ($1, 5000000) ON CONFLICT (org_id) DO UPDATE SET used_bytes = 5000000',
      [ORG],
    );
    await settleAgain();
    await sweep.tick();
    const found = await counts(id);
    expect(found?.log).toBeGreaterThan(500);
    expect(found).toMatchObject({ granted: BLOCK, used: await granted() });
    const corrected = await value('storage_corrected_bytes_total');
    expect(corrected).toBeGreaterThan(4_000_000);
    await settleAgain();
    await sweep.tick();
    expect(await value('storage_corrected_bytes_total')).toBe(corrected);
    expect(await counts(id)).toEqual(found);
  });

  it('is counted for a snapshot as it grows and shrinks, which without room is replaced by a note of why', async () => {
    const { id } = await harness.create();
    const [large, small] = [3 * MIB, 100].map((bytes) => ({ changes: [], patch: 'x'.repeat(bytes) }));
    if (large === undefined || small === undefined) throw new Error('two sizes');
    expect(await saveSnapshot(harness.pool, ORG, id, { snapshot: large, storage: 'ending' })).toBe(true);
    expect(await counts(id)).toMatchObject({ snapshot: 3 * MIB + 2, used: await granted() });
    expect(await saveSnapshot(harness.pool, ORG, id, { snapshot: small, storage: 'ending' })).toBe(true);
    expect(await counts(id)).toMatchObject({ snapshot: 102, used: await granted() });
    await owner.query('UPDATE app.org_storage SET limit_bytes = used_bytes WHERE org_id = $1', [ORG]);
    expect(await saveSnapshot(harness.pool, ORG, id, { snapshot: large, storage: 'ending' })).toBe(false);
    expect(await counts(id)).toMatchObject({ snapshot: 102 });
    expect(
      await saveSnapshot(harness.pool, ORG, id, {
        snapshot: { changes: [], patch: 'y'.repeat(200) },
        storage: 'platform',
      }),
    ).toBe(true);
    await owner.query('UPDATE app.org_storage SET limit_bytes = NULL WHERE org_id = $1', [ORG]);
  });

  it('is exported to Prometheus in sums and counts, with no series of an organization', async () => {
    await owner.query('UPDATE app.org_storage SET limit_bytes = used_bytes WHERE org_id = $1', [ORG]);
    expect(await value('storage_full_organizations')).toBe(1);
    expect(await value('storage_fullest_ratio')).toBe(1);
    expect(await value('storage_used_bytes')).toBe(await granted());
    expect(await metrics.metrics()).not.toContain(ORG);
    await owner.query('UPDATE app.org_storage SET limit_bytes = 0 WHERE org_id = $1', [ORG]);
    expect(await value('storage_full_organizations')).toBe(0);
  });

  it('has the limit of the installation where the organization has none of its own; 0 is none', async () => {
    const limitOf = async (own: number | null): Promise<unknown> =>
      (
        await inOrg(harness.pool, ORG, (client) =>
          client.query<{ bytes: number | null }>('SELECT app.storage_limit($1) AS bytes', [own]),
        )
      ).rows[0]?.bytes;
    expect(await limitOf(null)).toBeNull();
    await writeDefaultLimit(harness.pool, 5 * MIB);
    await writeDefaultLimit(harness.pool, 6 * MIB);
    expect([await limitOf(null), await limitOf(MIB), await limitOf(0)]).toEqual([6 * MIB, MIB, null]);
    await writeDefaultLimit(harness.pool, 0);
    expect(await limitOf(null)).toBeNull();
  });

  it('is given back with a conversation that is deleted', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    const before = await granted();
    await inOrg(harness.pool, ORG, (client) => client.query('SELECT app.delete_conversation($1, $2)', [ORG, id]));
    expect(await granted()).toBe(before - BLOCK);
    expect(
      (await owner.query('SELECT used_bytes::int AS used FROM app.org_storage WHERE org_id = $1', [ORG])).rows[0]?.used,
    ).toBe(before - BLOCK);
  });
});

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CheckpointAbout, commitCheckpoint, dropCheckpoint, type NewPack } from '@slipway/db/checkpoints';
import { createPool, inOrg, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { openPackStore, type PackStore } from '@slipway/sandbox/packs';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import pg from 'pg';
import { ConversationLocks } from '../conversations/conversation-locks.js';
import { CheckpointSweep, ORPHAN_HOURS, type SweepOptions } from './checkpoint-sweep.js';

const logger = createLogger('checkpoint-sweep-test', 'silent');
const signal = AbortSignal.timeout(120_000);

describe('the sweep of checkpoints', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-sweep-'));
  let database: TestDatabase;
  let owner: pg.Pool;
  let pool: SqlPool;
  let store: PackStore;
  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
    pool = createPool({ url: database.urls.app, max: 6, applicationName: 'test', onError: () => {} });
    store = await openPackStore(pathToFileURL(folder));
  });
  afterAll(async () => {
    await pool?.end();
    await owner?.end();
    await database?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** As runtime-api does it, without HTTP between. */
  const runtime: SweepOptions['runtime'] = {
    packs: async (after) => {
      const found = [];
      for await (const { orgId, packId, bytes, storedAt } of store.list(after, signal))
        found.push({ org_id: orgId, pack_id: packId, bytes, stored_at: storedAt.toISOString() });
      return found;
    },
    deletePacks: async (orgId, packs) => {
      for (const packId of packs) await store.delete({ orgId, packId }, signal);
    },
  };
  const sweep = (change: Partial<SweepOptions> = {}): CheckpointSweep =>
    new CheckpointSweep({
      ...{ pool, runtime, clock: systemClock, logger, graceSeconds: 0 },
      locks: { tryLock: async () => null },
      ...change,
    });

  const org = async (settings: object = {}): Promise<string> => {
    const id = `org_${randomUUID().slice(0, 8)}`;
    await owner.query(`INSERT INTO app.org (id, slug, name, kind, settings) VALUES ($1, $1, $1, 'personal', $2)`, [
      id,
      JSON.stringify(settings),
    ]);
    await owner.query(
      `INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) VALUES ($1, 1, '\\x00', 'm')`,
      [id],
    );
    return id;
  };
  const conversation = async (orgId: string, idleDays = 0): Promise<string> => {
    const id = randomUUID();
    await owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, epoch, head, updated_at)
       VALUES ($1, $2, 'usr', 'u', 't', 'm', 1, 5, now() - $3 * interval '1 day')`,
      [id, orgId, idleDays],
    );
    await owner.query(
      `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event) SELECT $1, n, $2, 1, gen_random_uuid(), 'k', '{}' FROM generate_series(1, 5) n`,
      [id, orgId],
    );
    return id;
  };
  const stored = async (orgId: string): Promise<NewPack> => {
    const packId = randomBytes(16).toString('hex');
    await store.put({ orgId, packId }, Readable.from([Buffer.from('pack')]), signal);
    return { id: packId, bytes: 4, wrappedKey: Buffer.from('k'), keyVersion: 1 };
  };
  /** A checkpoint after the n-th event with one pack of its own, in row and store. */
  const checkpoint = async (
    orgId: string,
    conversationId: string,
    seq: number,
    about: Partial<CheckpointAbout> = {},
  ) => {
    const { rows } = await owner.query<{ event_id: string }>(
      'SELECT event_id FROM app.event WHERE conversation_id = $1 AND seq = $2',
      [conversationId, seq],
    );
    const [id, pack] = [randomUUID(), await stored(orgId)];
    const answer = await commitCheckpoint(pool, orgId, {
      ...{ id, conversationId, epoch: 1, after: rows[0]?.event_id ?? '', parent: null, held: [], packs: [pack] },
      ...{ root: randomBytes(32), contentHash: randomBytes(32), begun: new Date(), seatBytes: null },
      about: {
        ...{ reason: 'rest', quiet: true, complete: true, skipped: {}, secrets: [], files: 1, logicalBytes: 1 },
        takenAt: new Date(),
        ...about,
      },
    });
    expect(answer.outcome).toBe('ok');
    return { id, pack: pack.id };
  };
  const durable = async (conversationId: string): Promise<string[]> => {
    const { rows } = await owner.query<{ id: string }>(
      `SELECT id FROM app.checkpoint WHERE conversation_id = $1 AND state = 'durable' ORDER BY seq, durable_at`,
      [conversationId],
    );
    return rows.map(({ id }) => id);
  };
  const objects = async (orgId: string): Promise<string[]> =>
    (await runtime.packs(null, signal)).flatMap(({ org_id, pack_id }) => (org_id === orgId ? [pack_id] : [])).sort();

  it('keeps the newest, and the named and pinned ones, of a conversation that was idle for longer than the organization’s days', async () => {
    const [usual, short] = [await org(), await org({ checkpointDays: 3 })];
    const [idle, fresh, soon] = [
      await conversation(usual, 31),
      await conversation(usual, 29),
      await conversation(short, 4),
    ];
    const named = await checkpoint(usual, idle, 1, { name: 'good' });
    const pinned = await checkpoint(usual, idle, 2, { pinnedBy: 'usr' });
    const old = await checkpoint(usual, idle, 3);
    const newest = await checkpoint(usual, idle, 4);
    const kept = [await checkpoint(usual, fresh, 1), await checkpoint(usual, fresh, 2)];
    await checkpoint(short, soon, 1);
    const last = await checkpoint(short, soon, 2);
    expect(await sweep().round(signal)).toMatchObject({ expired: 2, doomed: 2, deleted: 2 });
    expect(await durable(idle)).toEqual([named.id, pinned.id, newest.id]);
    expect(await durable(fresh)).toEqual(kept.map(({ id }) => id));
    expect(await durable(soon)).toEqual([last.id]);
    expect(await objects(usual)).not.toContain(old.pack);
    expect(await sweep().round(signal)).toEqual({ expired: 0, doomed: 0, deleted: 0, orphans: 0 });
  });

  it('lets step checkpoints expire after two days, whatever happens in the conversation', async () => {
    const orgId = await org();
    const id = await conversation(orgId);
    const step = await checkpoint(orgId, id, 1, { reason: 'step' });
    const rest = await checkpoint(orgId, id, 2);
    await sweep().round(signal);
    expect(await durable(id)).toEqual([step.id, rest.id]);
    await owner.query(`UPDATE app.checkpoint SET expires_at = expires_at - interval '2 days' WHERE id = $1`, [step.id]);
    await sweep().round(signal);
    expect(await durable(id)).toEqual([rest.id]);
  });

  it('waits for the grace between dooming and deleting, and deletes what a killed sweep left', async () => {
    const orgId = await org();
    const id = await conversation(orgId);
    const one = await checkpoint(orgId, id, 1);
    await dropCheckpoint(pool, orgId, id, one.id);
    const patient = sweep({ graceSeconds: 86_400 });
    expect(await patient.round(signal)).toMatchObject({ doomed: 1, deleted: 0 });
    expect(await objects(orgId)).toEqual([one.pack]);
    await owner.query(`UPDATE app.pack SET doomed_at = doomed_at - interval '25 hours' WHERE id = $1`, [one.pack]);
    const failing = { ...runtime, deletePacks: () => Promise.reject(new Error('the store is away')) };
    expect(await sweep({ graceSeconds: 86_400, runtime: failing }).round(signal)).toMatchObject({ deleted: 0 });
    expect((await owner.query<{ state: string }>('SELECT state FROM app.pack WHERE id = $1', [one.pack])).rows).toEqual(
      [{ state: 'deleting' }],
    );
    expect(await patient.round(signal)).toMatchObject({ deleted: 1 });
    expect(await objects(orgId)).toEqual([]);
  });

  it('deletes objects without a row when they are 48 hours old, and not before', async () => {
    const orgId = await org();
    const id = await conversation(orgId);
    const known = await checkpoint(orgId, id, 1);
    const [young, old] = [await stored(orgId), await stored(orgId)];
    const age = (pack: string, hours: number): void => {
      const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith(pack)) ?? '';
      const time = new Date(Date.now() - hours * 3_600_000);
      utimesSync(path.join(folder, file), time, time);
    };
    for (const pack of [known.pack, old.id]) age(pack, ORPHAN_HOURS + 1);
    age(young.id, ORPHAN_HOURS - 1);
    expect(await sweep().round(signal)).toMatchObject({ orphans: 1 });
    expect(await objects(orgId)).toEqual([known.pack, young.id].sort());
  });

  it('leaves nothing of a deleted conversation in rows and store, without waiting for the grace', async () => {
    const orgId = await org();
    const id = await conversation(orgId);
    const { pack } = await checkpoint(orgId, id, 1);
    await inOrg(pool, orgId, (client) => client.query('SELECT app.delete_conversation($1, $2)', [orgId, id]));
    expect((await owner.query('SELECT 1 FROM app.checkpoint WHERE conversation_id = $1', [id])).rowCount).toBe(0);
    expect(
      (await owner.query<{ key: unknown }>('SELECT wrapped_key AS key FROM app.pack WHERE id = $1', [pack])).rows,
    ).toEqual([{ key: null }]);
    expect(await sweep({ graceSeconds: 86_400 }).round(signal)).toMatchObject({ deleted: 1 });
    expect([
      await objects(orgId),
      (await owner.query('SELECT 1 FROM app.pack WHERE id = $1', [pack])).rowCount,
    ]).toEqual([[], 0]);
  });

  it('keeps the rows’ sum of an organization equal to the bytes in its store', async () => {
    const orgId = await org();
    const id = await conversation(orgId);
    for (const seq of [1, 2, 3]) {
      const { id: one } = await checkpoint(orgId, id, seq);
      if (seq < 3) await dropCheckpoint(pool, orgId, id, one);
    }
    await sweep({ graceSeconds: 86_400 }).round(signal);
    const sums = async (): Promise<number[]> => {
      const { rows } = await owner.query<{ used: number; summed: number }>(
        `SELECT used_bytes::int AS used, (SELECT sum(bytes)::int FROM app.pack WHERE org_id = $1) AS summed FROM app.pack_storage WHERE org_id = $1`,
        [orgId],
      );
      const inStore = (await runtime.packs(null, signal)).filter(({ org_id }) => org_id === orgId);
      return [rows[0]?.used ?? 0, rows[0]?.summed ?? 0, inStore.reduce((sum, { bytes }) => sum + bytes, 0)];
    };
    expect(await sums()).toEqual([12, 12, 12]);
    await sweep().round(signal);
    expect(await sums()).toEqual([4, 4, 4]);
  });

  it('is made by one worker at a time', async () => {
    const locks = [1, 2].map(
      () => new ConversationLocks({ databaseUrl: database.urls.app, applicationName: 'sweep-test', logger }),
    );
    const rounds: number[] = [];
    const leads = locks.map((own, index) =>
      sweep({
        locks: own,
        runtime: {
          ...runtime,
          packs: async (after, until) => {
            rounds.push(index);
            return runtime.packs(after, until);
          },
        },
      }),
    );
    for (const lead of leads) await lead.tick();
    expect(rounds).toEqual([0]);
    for (const lead of leads) await lead.close();
    for (const own of locks) await own.close();
  });
});

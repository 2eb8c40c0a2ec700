import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import pg from 'pg';
import { Interleaving } from '../testing/checkpoint-interleaving.js';
import { CheckpointWorld, eventId, newCheckpoint, newPack } from '../testing/checkpoint-world.js';
import { chooserOf } from '../testing/pack-model.js';
import { commitCheckpoint, dropCheckpoint } from './index.js';

const INTERLEAVINGS = Number(process.env['CHECKPOINT_INTERLEAVINGS'] ?? 6);
const ACTORS = 6;
const STEPS = 60;

describe('checkpoints over several connections', () => {
  let world: CheckpointWorld;
  const others: pg.Client[] = [];
  beforeAll(async () => {
    world = await CheckpointWorld.open();
  });
  afterAll(async () => {
    for (const each of others) await each.end();
    await world?.close();
  });

  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: world.database.ownerUrl });
    await client.connect();
    others.push(client);
    return client;
  };
  /** Once a query of the service waits for a lock. */
  const untilWaiting = async (like: string): Promise<void> => {
    const waits = async (): Promise<boolean> => {
      const { rowCount } = await world.owner.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%' AND pid <> pg_backend_pid()`,
        [like],
      );
      return rowCount !== 0;
    };
    while (!(await waits())) await new Promise((resolve) => setImmediate(resolve));
  };

  it('refuses an epoch that another sandbox took while the commit waited for the row', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org);
    const next = await connect();
    await next.query('BEGIN');
    await next.query('UPDATE app.conversation SET epoch = 2 WHERE id = $1', [conversation]);
    const late = world.commit(org, conversation);
    await untilWaiting('commit_checkpoint');
    await next.query('COMMIT');
    expect((await late).outcome).toBe('stale');
    expect(await world.packs(org)).toEqual([]);
  });

  it('dooms no pack that a commit refers to which the collector waited for, where one statement would', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org);
    /** A commit that takes an unreferenced pack back, before its COMMIT; and a collector that has listed the pack. */
    const race = async (doom: string): Promise<string[]> => {
      const pack = newPack();
      const first = { ...newCheckpoint(conversation), packs: [pack] };
      await world.commit(org, conversation, first);
      await dropCheckpoint(world.pool, org, conversation, first.id);
      const writer = await connect();
      await writer.query('BEGIN');
      await writer.query('SELECT 1 FROM app.pack WHERE id = $1 FOR SHARE', [pack.id]);
      const collector = await connect();
      const dooming = collector.query(doom, [org, [pack.id]]);
      if (doom !== RIGHT) await untilWaiting('SET state');
      await writer.query(
        `WITH k AS (INSERT INTO app.checkpoint (org_id, id, conversation_id, seq, after_event_id, epoch, root, content_hash, reason, quiet, complete, files, logical_bytes, new_bytes, taken_at)
           VALUES ($1, $2, $3, 1, $2, 1, sha256('a'), sha256('a'), 'rest', true, true, 1, 1, 1, now()))
         INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id) VALUES ($1, $2, $4)`,
        [org, randomUUID(), conversation, pack.id],
      );
      await writer.query('COMMIT');
      await dooming;
      await collector.query(doom, [org, [pack.id]]);
      return world.broken(org);
    };
    expect(await race(RIGHT)).toEqual([]);
    expect(await race(ONE_STATEMENT)).toHaveLength(1);
  });

  it('keeps every acknowledged checkpoint and every pack in any interleaving, with connections that are killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const run = await Interleaving.open(world, chooserOf(seed));
        await Promise.all(Array.from({ length: ACTORS }, () => run.act(STEPS)));
        expect(await run.violations()).toEqual([]);
        expect(await run.settle()).toEqual({ missing: [], unreferenced: [] });
      }),
      { numRuns: INTERLEAVINGS, endOnFailure: true },
    );
  });

  it('is durable or not at all when its connection is killed, and the same call finds out', async () => {
    const org = await world.org();
    const conversation = await world.conversation(org);
    const outcomes = new Set<string>();
    for (let round = 0; round < 20; round += 1) {
      const checkpoint = { ...newCheckpoint(conversation), after: eventId(conversation, 1 + (round % 3)) };
      const first = commitCheckpoint(world.pool, org, checkpoint).then(
        ({ outcome }) => outcome,
        () => 'unknown',
      );
      const kill = world.owner.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'test'`,
      );
      outcomes.add(await first);
      await kill;
      const again = async (): Promise<string> =>
        commitCheckpoint(world.pool, org, checkpoint).then(({ outcome }) => outcome, again);
      expect(await again()).toBe('ok');
    }
    expect([...outcomes].every((outcome) => ['ok', 'unknown'].includes(outcome))).toBe(true);
    const { rows } = await world.owner.query<{ count: string }>(
      'SELECT count(*) FROM app.checkpoint WHERE conversation_id = $1',
      [conversation],
    );
    expect(Number(rows[0]?.count)).toBe(20);
    expect(await world.usedBytes(org)).toEqual({ counted: 2_000, summed: 2_000 });
  });
});

const RIGHT = 'SELECT app.doom_packs($1, $2)';
/** What looks the same and is not: the rows of before the wait decide. */
const ONE_STATEMENT = `UPDATE app.pack p SET state = 'doomed', doomed_at = now() WHERE p.org_id = $1 AND p.id = ANY ($2::text[]) AND p.state = 'live'
  AND NOT EXISTS (SELECT 1 FROM app.checkpoint_pack r WHERE r.org_id = p.org_id AND r.pack_id = p.id)`;

// The sweep of checkpoints over 100,000 checkpoints and a million packs: one round with what a day leaves, beside
// conversations that commit meanwhile, and one that finds nothing. The store of packs answers at once: its own time is
// the bucket's. Longest commit beside the longest without a sweep: what its locks cost.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PackPage } from '@slipway/contracts/sandboxes';
import { commitCheckpoint } from '@slipway/db/checkpoints';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase } from '@slipway/testing';
import pg from 'pg';
import { CheckpointSweep, type SweepOptions } from '../apps/worker/dist/checkpoints/checkpoint-sweep.js';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';

const ORGS = 10;
const CONVERSATIONS = quick(2_000, 20);
const CHECKPOINTS = quick(100_000, 400);
const PACKS_EACH = 10;
/** One of so many checkpoints is due, has expired a while ago (its packs to be doomed), or longer (to be deleted). */
const ONE_OF = 20;
/** Conversations that commit at the same time, and commits of each before the sweep. */
const WRITERS = 4;
const COMMITS = quick(1_000, 5);
const WARM_UP = quick(50, 2);
const PAGE = 1_000;

const SEED = [
  `INSERT INTO app.org (id, slug, name, kind) SELECT 'org_' || o, 'org-' || o, 'o', 'company' FROM generate_series(0, $1 - 1) o`,
  `INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) SELECT 'org_' || o, 1, '\\x00', 'm' FROM generate_series(0, $1 - 1) o`,
];
const SEED_CONVERSATIONS = `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, epoch, head, updated_at)
  SELECT md5('c' || c)::uuid, 'org_' || (c % $1), 'usr', 'u', 't', 'm', 1, 1, now() - interval '1 day' FROM generate_series(0, $2 - 1) c`;
const SEED_CHECKPOINTS = `INSERT INTO app.checkpoint (org_id, id, conversation_id, seq, after_event_id, epoch, root, content_hash, state, reason, quiet, complete, files,
    logical_bytes, new_bytes, taken_at, durable_at, expires_at)
  SELECT 'org_' || (k % $2 % $1), md5('k' || k)::uuid, md5('c' || k % $2)::uuid, k / $2 + 1, md5('e' || k)::uuid, 1, sha256('r'), sha256('r'),
    CASE WHEN k % $4 IN (1, 2) THEN 'expired' ELSE 'durable' END, 'step', true, true, 1, 1, 1, now(), now(), CASE WHEN k % $4 = 0 THEN now() END
  FROM generate_series(0, $3 - 1) k`;
const SEED_PACKS = `INSERT INTO app.pack (org_id, id, bytes, live_bytes, wrapped_key, key_version, stored_by, state, doomed_at, created_at)
  SELECT 'org_' || (k % $2 % $1), md5('p' || k || '-' || n), 1000, 1000, sha256('k'), 1, md5('c' || k % $2)::uuid, CASE WHEN k % $4 = 2 THEN 'doomed' ELSE 'live' END,
    CASE WHEN k % $4 = 2 THEN now() - interval '25 hours' END, now() FROM generate_series(0, $3 - 1) k, generate_series(1, $5) n`;
const SEED_REFERENCES = `INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id)
  SELECT 'org_' || (k % $2 % $1), md5('k' || k)::uuid, md5('p' || k || '-' || n) FROM generate_series(0, $3 - 1) k, generate_series(1, $4) n WHERE k % $5 NOT IN (1, 2)`;

export default async function run(report: Report): Promise<void> {
  const database = await createTestDatabase();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const pool = createPool({ url: database.urls.app, max: 8, applicationName: 'bench', onError: () => {} });
  try {
    for (const text of SEED) await owner.query(text, [ORGS]);
    await owner.query(SEED_CONVERSATIONS, [ORGS, CONVERSATIONS]);
    await owner.query(SEED_CHECKPOINTS, [ORGS, CONVERSATIONS, CHECKPOINTS, ONE_OF]);
    await owner.query(SEED_PACKS, [ORGS, CONVERSATIONS, CHECKPOINTS, ONE_OF, PACKS_EACH]);
    await owner.query(SEED_REFERENCES, [ORGS, CONVERSATIONS, CHECKPOINTS, PACKS_EACH, ONE_OF]);
    await owner.query('VACUUM ANALYZE');
    await owner.query('CHECKPOINT');
    const writers: Array<() => Promise<void>> = [];
    for (let index = 0; index < WRITERS; index += 1) writers.push(await writer(owner, pool, index));
    await Promise.all(writers.map((commit) => times(commit, WARM_UP)));

    const [quiet, loud] = [new LockWaits(owner), new LockWaits(owner)];
    const alone = await quiet.during(Promise.all(writers.map((commit) => times(commit, COMMITS))));
    const sweep = new CheckpointSweep({
      ...{ pool, clock: systemClock, logger: createLogger('bench', 'silent') },
      locks: { tryLock: async () => null },
      runtime: await storeOf(owner),
    });
    const signal = AbortSignal.timeout(600_000);
    const began = performance.now();
    const ended = new AbortController();
    const beside = Promise.all(writers.map((commit) => times(commit, Number.POSITIVE_INFINITY, ended.signal)));
    const swept = await loud.during(sweep.round(signal));
    const seconds = (performance.now() - began) / 1_000;
    ended.abort();
    const during = (await beside).flat();
    const before = alone.flat();
    report.note(`one round: ${JSON.stringify(swept)}`);
    report.figure({ figure: 'sweep', value: seconds, unit: 's', n: CHECKPOINTS });
    report.figure({
      figure: 'longest_wait_for_a_lock_seen',
      value: loud.longestMs,
      floor: quiet.longestMs,
      unit: 'ms',
      n: loud.looks,
    });
    for (const [name, of] of [
      ['p50', 0.5],
      ['p99', 0.99],
      ['longest', 1],
    ] as const)
      report.figure({
        figure: `commit_beside_it_${name}`,
        value: percentile(during, of),
        floor: percentile(before, of),
        unit: 'ms',
        n: during.length,
      });
    const again = performance.now();
    await sweep.round(signal);
    report.figure({ figure: 'sweep_with_nothing_to_do', value: (performance.now() - again) / 1_000, unit: 's', n: 1 });
  } finally {
    await pool.end();
    await owner.end();
    await database.close();
  }
}

/** Commits of a conversation of its own, one after the other, each with the packs of the one before and one more. */
async function writer(owner: pg.Client, pool: SqlPool, index: number): Promise<() => Promise<void>> {
  const [orgId, conversationId, after] = [`org_${index % ORGS}`, randomUUID(), randomUUID()];
  await owner.query(
    `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, epoch, head) VALUES ($1, $2, 'usr', 'u', 't', 'm', 1, 1)`,
    [conversationId, orgId],
  );
  await owner.query(
    `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event) VALUES ($1, 1, $2, 1, $3, 'k', '{}')`,
    [conversationId, orgId, after],
  );
  let [parent, held]: [string | null, string[]] = [null, []];
  return async () => {
    const [id, pack] = [randomUUID(), randomBytes(16).toString('hex')];
    const { outcome } = await commitCheckpoint(pool, orgId, {
      ...{ id, conversationId, epoch: 1, after, parent, held, root: randomBytes(32), contentHash: randomBytes(32) },
      packs: [{ id: pack, bytes: 1_000, wrappedKey: Buffer.from('key'), keyVersion: 1 }],
      about: {
        ...{ reason: 'rest', quiet: true, complete: true, skipped: {}, secrets: [], files: 1, logicalBytes: 1 },
        takenAt: new Date(),
      },
      begun: new Date(),
      seatBytes: 2 ** 50,
    });
    if (outcome !== 'ok') throw new Error(`the commit answered ${outcome}`);
    [parent, held] = [id, [...held.slice(-31), pack]];
  };
}

/** Looks again and again at how long anybody has waited for a lock on a row. */
class LockWaits {
  longestMs = 0;
  looks = 0;

  private readonly owner: pg.Client;

  constructor(owner: pg.Client) {
    this.owner = owner;
  }

  async during<T>(work: Promise<T>): Promise<T> {
    const ended = new AbortController();
    const looking = this.look(ended.signal);
    const result = await work.finally(() => ended.abort());
    await looking;
    return result;
  }

  private async look(signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; this.looks += 1) {
      const { rows } = await this.owner.query<{ ms: number }>(
        `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart) * 1000), 0)::float8 AS ms FROM pg_locks
         WHERE NOT granted AND locktype IN ('transactionid', 'tuple')`,
      );
      this.longestMs = Math.max(this.longestMs, rows[0]?.ms ?? 0);
      await delay(2);
    }
  }
}

/** @returns milliseconds of each. */
async function times(work: () => Promise<void>, most: number, signal?: AbortSignal): Promise<number[]> {
  const found: number[] = [];
  while (found.length < most && signal?.aborted !== true) {
    const began = performance.now();
    await work();
    found.push(performance.now() - began);
  }
  return found;
}

/** Has what the rows name, all of it days old, and deletes at once. */
async function storeOf(owner: pg.Client): Promise<SweepOptions['runtime']> {
  const { rows } = await owner.query<{ org_id: string; id: string }>(
    'SELECT org_id, id FROM app.pack ORDER BY org_id, id',
  );
  const storedAt = new Date(Date.now() - 10 * 86_400_000).toISOString();
  const deleted = new Set<string>();
  const places = new Map(rows.map(({ org_id, id }, index) => [`${org_id}/${id}`, index]));
  return {
    packs: async (after) => {
      const page: PackPage['packs'] = [];
      let at = after === null ? 0 : (places.get(`${after.orgId}/${after.packId}`) ?? -1) + 1;
      for (; page.length < PAGE && at < rows.length; at += 1) {
        const { org_id = '', id = '' } = rows[at] ?? {};
        if (!deleted.has(id)) page.push({ org_id, pack_id: id, bytes: 1_000, stored_at: storedAt });
      }
      return page;
    },
    deletePacks: async (_org, packs) => {
      for (const id of packs) deleted.add(id);
    },
  };
}

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Committed, commitCheckpoint, type NewCheckpoint, type NewPack } from '../checkpoints/index.js';
import { createPool, type SqlPool } from '../sql/index.js';
import { createDatabase, type Database } from './database.js';

/** An organization's conversations with a log each, and what commits checkpoints of them. */
export class CheckpointWorld {
  private constructor(
    readonly database: Database,
    readonly owner: pg.Pool,
    readonly pool: SqlPool,
  ) {}

  static async open(): Promise<CheckpointWorld> {
    const database = await createDatabase();
    const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 8 });
    // The database is dropped while the last connections end.
    owner.on('error', () => {});
    const pool = createPool({ url: database.urls.app, max: 8, applicationName: 'test', onError: () => {} });
    return new CheckpointWorld(database, owner, pool);
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.owner.end();
    await this.database.close();
  }

  async org(members = 1): Promise<string> {
    const org = `org_${randomUUID().slice(0, 8)}`;
    await this.owner.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $1, $1, 'personal')`, [org]);
    for (let index = 0; index < members; index += 1)
      await this.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'owner')`, [
        org,
        `usr_${index}`,
      ]);
    await this.owner.query(
      `INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) VALUES ($1, 1, '\\x00', 'm')`,
      [org],
    );
    return org;
  }

  /** With as many events as said; the id of the n-th is `eventId(conversation, n)`. */
  async conversation(org: string, events = 3, epoch = 1): Promise<string> {
    const id = randomUUID();
    await this.owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, epoch, head) VALUES ($1, $2, 'usr', 'u', 't', 'm', $3, $4)`,
      [id, org, epoch, events],
    );
    await this.log(org, id, events);
    return id;
  }

  async log(org: string, conversation: string, events: number): Promise<void> {
    for (let seq = 1; seq <= events; seq += 1)
      await this.owner.query(
        `INSERT INTO app.event (conversation_id, seq, org_id, epoch, event_id, kind, event) VALUES ($1, $2, $3, 1, $4, 'k', '{}') ON CONFLICT DO NOTHING`,
        [conversation, seq, org, eventId(conversation, seq)],
      );
  }

  /** What `values` leaves out is that of a first checkpoint with one pack of its own, after event 1. */
  commit(org: string, conversationId: string, values: Partial<NewCheckpoint> = {}): Promise<Committed> {
    return commitCheckpoint(this.pool, org, { ...newCheckpoint(conversationId), ...values });
  }

  async packs(org: string): Promise<Array<{ id: string; state: string; readable: boolean }>> {
    const { rows } = await this.owner.query<{ id: string; state: string; readable: boolean }>(
      'SELECT id, state, wrapped_key IS NOT NULL AS readable FROM app.pack WHERE org_id = $1 ORDER BY id',
      [org],
    );
    return rows;
  }

  async usedBytes(org: string): Promise<{ counted: number; summed: number }> {
    const { rows } = await this.owner.query<{ counted: string; summed: string }>(
      `SELECT coalesce((SELECT used_bytes FROM app.pack_storage WHERE org_id = $1), 0) AS counted,
         (SELECT coalesce(sum(bytes), 0) FROM app.pack WHERE org_id = $1) AS summed`,
      [org],
    );
    return { counted: Number(rows[0]?.counted), summed: Number(rows[0]?.summed) };
  }

  /** Packs that a checkpoint refers to and that no reader could open or would find. */
  async broken(org: string): Promise<string[]> {
    const { rows } = await this.owner.query<{ pack_id: string }>(
      `SELECT r.pack_id FROM app.checkpoint_pack r LEFT JOIN app.pack p ON p.org_id = r.org_id AND p.id = r.pack_id
       WHERE r.org_id = $1 AND (p.state IS DISTINCT FROM 'live' OR p.wrapped_key IS NULL)`,
      [org],
    );
    return rows.map(({ pack_id }) => pack_id);
  }
}

export function newCheckpoint(conversationId: string): NewCheckpoint {
  return {
    id: randomUUID(),
    conversationId,
    epoch: 1,
    after: eventId(conversationId, 1),
    parent: null,
    root: randomBytes(32),
    contentHash: randomBytes(32),
    held: [],
    packs: [newPack()],
    about: {
      reason: 'rest',
      quiet: true,
      complete: true,
      skipped: {},
      secrets: [],
      files: 1,
      logicalBytes: 10,
      takenAt: new Date(),
    },
    begun: new Date(),
    seatBytes: null,
  };
}

export function newPack(bytes = 100, id = randomBytes(16).toString('hex')): NewPack {
  return { id, bytes, wrappedKey: Buffer.from(`key of ${id}`), keyVersion: 1 };
}

/** The id of the event at `seq` in a conversation's log. */
export function eventId(conversation: string, seq: number): string {
  const hex = createHash('sha256').update(`${conversation} ${seq}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** One row of each table, under ids made from the conversation's. */
export async function insertCheckpointRows(
  owner: pg.Client | pg.Pool,
  org: string,
  conversation: string,
): Promise<void> {
  await owner.query(
    `WITH own AS (INSERT INTO app.checkpoint (org_id, id, conversation_id, seq, after_event_id, epoch, root, content_hash, reason, quiet, complete, files, logical_bytes, new_bytes, taken_at)
         VALUES ($2, $1, $1, 1, $1, 1, sha256('a'), sha256('a'), 'rest', true, true, 1, 1, 1, now())),
       stored AS (INSERT INTO app.pack (org_id, id, bytes, live_bytes, stored_by, state, doomed_at) VALUES ($2, replace($1::text, '-', ''), 1, 1, $1, 'doomed', now())),
       sum AS (INSERT INTO app.pack_storage (org_id) VALUES ($2))
     INSERT INTO app.checkpoint_pack (org_id, checkpoint_id, pack_id) VALUES ($2, $1, replace($1::text, '-', ''))`,
    [conversation, org],
  );
}

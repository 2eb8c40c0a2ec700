import {
  claimPacks,
  commitCheckpoint,
  doomPacks,
  dropCheckpoint,
  finishPacks,
  inheritCheckpoint,
  type NewCheckpoint,
  swapPacks,
} from '../checkpoints/index.js';
import { type CheckpointWorld, eventId, newCheckpoint, newPack } from './checkpoint-world.js';
import type { Choose } from './pack-model.js';

const EVENTS = 6;
const CONVERSATIONS = 3;

/** Several actors on one organization at once: sandboxes, zombies, users, forks, repacking, the collector, faults. */
export class Interleaving {
  private readonly acknowledged = new Set<string>();
  private readonly stored = new Set<string>();
  /** By then no row may refer to them ever again. */
  private readonly deleted = new Set<string>();
  /** The newest epoch whose commit was answered. */
  private readonly epochs = new Map<string, number>();
  private readonly found: string[] = [];

  private constructor(
    private readonly world: CheckpointWorld,
    private readonly choose: Choose,
    private readonly org: string,
    private readonly conversations: readonly string[],
  ) {}

  static async open(world: CheckpointWorld, choose: Choose): Promise<Interleaving> {
    const org = await world.org();
    const conversations: string[] = [];
    for (let index = 0; index < CONVERSATIONS; index += 1) conversations.push(await world.conversation(org, EVENTS));
    // A fork's log has the events of its source.
    const [source = '', fork = ''] = conversations;
    for (let seq = 1; seq <= EVENTS; seq += 1)
      await world.owner.query('UPDATE app.event SET event_id = $3 WHERE conversation_id = $1 AND seq = $2', [
        fork,
        seq,
        eventId(source, seq),
      ]);
    return new Interleaving(world, choose, org, conversations);
  }

  async act(steps: number): Promise<void> {
    const acts = [
      () => this.commit(),
      () => this.commit(),
      () => this.commit(),
      () => this.drop(),
      () => this.fork(),
      () => this.repack(),
      () => this.collect(),
      () => this.collect(),
      () => this.takeOver(),
      () => this.kill(),
      () => this.look(),
    ];
    for (let step = 0; step < steps; step += 1)
      // A connection that was killed fails whatever was on it.
      await acts[this.choose(acts.length)]?.().catch((error: Error) => {
        if (!/terminat|Connection|ended|ECONNRESET/i.test(error.message)) this.found.push(error.message);
      });
  }

  /** What went wrong until now, and what the rows say that must not be. */
  async violations(): Promise<string[]> {
    await this.look();
    const { rows } = await this.world.owner.query<{ id: string }>('SELECT id FROM app.checkpoint WHERE org_id = $1', [
      this.org,
    ]);
    const there = new Set(rows.map(({ id }) => id));
    const lost = [...this.acknowledged].filter((id) => !there.has(id)).map((id) => `lost ${id}`);
    const order = await this.world.owner.query<{ id: string }>(
      `SELECT k.id FROM app.checkpoint k LEFT JOIN app.checkpoint p ON p.org_id = k.org_id AND p.id = k.parent_id
       WHERE k.org_id = $1 AND (p.seq > k.seq OR NOT EXISTS (
         SELECT 1 FROM app.event e WHERE e.conversation_id = k.conversation_id AND e.event_id = k.after_event_id AND e.seq = k.seq))`,
      [this.org],
    );
    const { counted, summed } = await this.world.usedBytes(this.org);
    return [
      ...this.found,
      ...lost,
      ...order.rows.map(({ id }) => `out of order ${id}`),
      ...(counted === summed ? [] : [`counted ${counted} of ${summed} bytes`]),
    ];
  }

  /** No writer any more: what the collector leaves, and what of it is wrong. */
  async settle(): Promise<{ missing: string[]; unreferenced: string[] }> {
    const repeat = async (): Promise<void> => this.collect().catch(repeat);
    for (let round = 0; round < 3; round += 1) await repeat();
    const { rows } = await this.world.owner.query<{ pack_id: string }>(
      'SELECT DISTINCT pack_id FROM app.checkpoint_pack WHERE org_id = $1',
      [this.org],
    );
    const referred = new Set(rows.map(({ pack_id }) => pack_id));
    const left = (await this.world.packs(this.org)).map(({ id }) => id);
    return {
      missing: [...referred].filter((id) => !this.stored.has(id) || this.deleted.has(id)),
      unreferenced: left.filter((id) => !referred.has(id)),
    };
  }

  private async commit(): Promise<void> {
    const conversationId = this.any(this.conversations) ?? '';
    const known = this.epochs.get(conversationId) ?? 1;
    const { rows } = await this.world.owner.query<{ id: string; packs: string[] }>(
      `SELECT k.id, array_remove(array_agg(r.pack_id), NULL) AS packs FROM app.checkpoint k LEFT JOIN app.checkpoint_pack r ON r.checkpoint_id = k.id
       WHERE k.conversation_id = $1 GROUP BY k.id`,
      [conversationId],
    );
    const parent = this.any(rows);
    const pack = newPack(1 + this.choose(100));
    this.stored.add(pack.id);
    // One of an earlier sandbox now and then.
    const epoch = Math.max(1, known - (this.choose(4) === 0 ? 1 : 0));
    const of = conversationId === this.conversations[1] ? (this.conversations[0] ?? '') : conversationId;
    const checkpoint: NewCheckpoint = {
      ...newCheckpoint(conversationId),
      epoch,
      after: eventId(of, 1 + this.choose(EVENTS)),
      parent: parent?.id ?? null,
      held: parent?.packs ?? [],
      packs: [pack],
    };
    const { outcome } = await commitCheckpoint(this.world.pool, this.org, checkpoint);
    if (outcome === 'ok') this.acknowledged.add(checkpoint.id);
    if (outcome === 'ok' && epoch < known) this.found.push(`epoch ${epoch} committed after ${known}`);
    if (outcome === 'gone' || outcome === 'early' || outcome === 'quota') this.found.push(`answered ${outcome}`);
  }

  private async drop(): Promise<void> {
    const id = this.any([...this.acknowledged]);
    const conversationId = this.any(this.conversations) ?? '';
    if (id !== undefined) await dropCheckpoint(this.world.pool, this.org, conversationId, id);
  }

  private async fork(): Promise<void> {
    const source = this.any([...this.acknowledged]);
    if (source === undefined) return;
    const { id } = newCheckpoint('');
    const conversationId = this.conversations[1] ?? '';
    const outcome = await inheritCheckpoint(this.world.pool, this.org, { source, conversationId, id });
    if (outcome === 'ok') this.acknowledged.add(id);
  }

  private async repack(): Promise<void> {
    const { rows } = await this.world.owner.query<{ id: string; conversation: string; packs: string[] }>(
      `SELECT k.id, k.conversation_id AS conversation, array_agg(r.pack_id) AS packs FROM app.checkpoint k JOIN app.checkpoint_pack r ON r.checkpoint_id = k.id
       WHERE k.org_id = $1 GROUP BY k.id, k.conversation_id`,
      [this.org],
    );
    const of = this.any(rows);
    if (of === undefined) return;
    const pack = newPack(1 + this.choose(100));
    this.stored.add(pack.id);
    await swapPacks(this.world.pool, this.org, {
      conversationId: of.conversation,
      checkpoints: [of.id],
      drop: of.packs,
      packs: [pack],
      begun: new Date(),
    });
  }

  private async collect(): Promise<void> {
    const packs = await this.world.packs(this.org);
    await doomPacks(
      this.world.pool,
      this.org,
      packs.map(({ id }) => id),
    );
    const ids = await claimPacks(this.world.pool, this.org, { graceSeconds: 0, limit: 50 });
    for (const id of ids) this.deleted.add(id);
    await finishPacks(this.world.pool, this.org, ids);
  }

  /** Another sandbox has the conversation from here on. */
  private async takeOver(): Promise<void> {
    const id = this.any(this.conversations) ?? '';
    const { rows } = await this.world.owner.query<{ epoch: number }>(
      'UPDATE app.conversation SET epoch = epoch + 1 WHERE id = $1 RETURNING epoch',
      [id],
    );
    this.epochs.set(id, Math.max(this.epochs.get(id) ?? 1, rows[0]?.epoch ?? 1));
  }

  private async kill(): Promise<void> {
    await this.world.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'test' ORDER BY random() LIMIT 1`,
    );
  }

  /** What refers to a pack now is there, with its key, and its object was not deleted before. */
  private async look(): Promise<void> {
    const gone = new Set(this.deleted);
    const { rows } = await this.world.owner.query<{ pack_id: string; whole: boolean }>(
      `SELECT r.pack_id, p.state = 'live' AND p.wrapped_key IS NOT NULL AS whole FROM app.checkpoint_pack r LEFT JOIN app.pack p ON p.org_id = r.org_id AND p.id = r.pack_id
       WHERE r.org_id = $1`,
      [this.org],
    );
    for (const { pack_id, whole } of rows)
      if (!whole || gone.has(pack_id))
        this.found.push(`pack ${pack_id} is referred to and ${whole ? 'deleted' : 'not live'}`);
  }

  private any<T>(of: readonly T[]): T | undefined {
    return of[this.choose(Math.max(1, of.length))];
  }
}

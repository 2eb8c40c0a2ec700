import { generateKeyPairSync } from 'node:crypto';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { FarmBackend, SandboxFarm } from '@slipway/sandbox/testing';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { serveWaiting } from '../claims/waiting.queries.js';
import type { Step } from '../failpoints.js';
import { countStock, slotsIn, upsertPool } from '../pool/pool.queries.js';
import { LOCAL_PACE, type PoolContext, type PoolSpec } from '../pool/pool-context.js';
import { renewPool } from '../pool/pool-renewal.js';
import { beginCreation, planPool, provisionSlot } from '../pool/slot-provisioning.js';
import { removeSlot } from '../pool/slot-removal.js';
import { UNKEPT_BOUNDS } from '../pool/unkept.queries.js';
import { DEADLINE_MS, type Result, WorldReplica } from './world-replica.js';

export const TARGET = 3;
export const CAP = 2;
export const REPLICAS = 3;
const POOL_ID = 'world';
const HOUR = 3_600;
const POOL: PoolSpec = {
  poolId: POOL_ID,
  image: 'image',
  imageReference: null,
  runtimeClass: null,
  size: 1,
  bounds: { min: TARGET, max: TARGET },
  maxAgeSeconds: HOUR,
};

/**
 * One thing that one of the replicas does; `crashAt`: it dies when it comes to that step between two of its writes, by
 * its name or counted from 1. Replica 0 when not said.
 */
export type Operation = { readonly crashAt: number | Step | null; readonly replica?: number } & (
  | {
      readonly kind: 'start';
      readonly org: string;
      readonly session: string;
      readonly body: string;
      readonly waitMs?: number;
    }
  | { readonly kind: 'pause' | 'stop' | 'resume'; readonly org: string; readonly session: string }
  | { readonly kind: 'fill' | 'reap' | 'renew' | 'expire' | 'lease' | 'serve' | 'note' }
);

/**
 * Some runtime-api processes over one real Postgres and one farm of sandboxes. A process may die between any two steps
 * of what it does: from then on nothing of it goes on, no `catch` and no `finally` either, and another one takes its
 * place.
 */
export class PoolWorld {
  private readonly ids = createIds(systemClock);
  private readonly keys: { box: SecretBox; activation: ReturnType<typeof generateKeyPairSync>; cap: number };
  private readonly replicas = new Map<number, WorldReplica>();
  private dead: WorldReplica[] = [];
  private born = 0;
  /** What `passTime` has added to the clocks of the processes. Milliseconds. */
  private passedMs = 0;
  template = 'first';
  crashes = 0;
  readonly crashedAt = new Set<Step>();

  private constructor(
    readonly database: TestDatabase,
    readonly db: SqlPool,
    readonly owner: SqlPool,
    readonly farm: SandboxFarm,
    activation: ReturnType<typeof generateKeyPairSync>,
  ) {
    this.keys = { box: new SecretBox('an encryption key of the test, long enough'), activation, cap: CAP };
  }

  static async open(): Promise<PoolWorld> {
    const database = await createTestDatabase();
    const activation = generateKeyPairSync('ed25519');
    const farm = await new SandboxFarm(
      activation.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    ).start();
    const open = (url: string): SqlPool =>
      createPool({ url, max: 12, applicationName: 'pool-world', onError: () => {} });
    return new PoolWorld(database, open(database.urls.runtime), open(database.ownerUrl), farm, activation);
  }

  async close(): Promise<void> {
    await this.quiet();
    await Promise.all([this.db.end(), this.owner.end()]);
    await this.farm.close();
    await this.database.close();
  }

  /** Everything as on the first day. */
  async reset(): Promise<void> {
    await this.quiet();
    await this.owner.query(
      'TRUNCATE runtime.pool, runtime.slot, runtime.claim, runtime.session, runtime.org_usage, runtime.replica, runtime.waiting, runtime.fair_share, runtime.sandbox_note',
    );
    this.farm.sandboxes.clear();
    this.farm.workspaces.clear();
    this.farm.unreachable.clear();
    this.farm.history.length = 0;
    this.template = 'first';
    this.replicas.clear();
    this.dead = [];
    await this.savePool();
  }

  async savePool(): Promise<void> {
    await upsertPool(this.db, { ...POOL, template: this.template });
  }

  async run(operation: Operation): Promise<Result> {
    const replica = this.replica(operation.replica ?? 0);
    const result = await replica.run(operation.crashAt, () =>
      this.perform(operation, replica, new AbortController().signal),
    );
    if (replica.dead) this.bury(operation.replica ?? 0, replica);
    return result;
  }

  /** A request whose caller has gone before anything was done for it. */
  runForNobody(operation: Extract<Operation, { org: string }>): Promise<Result> {
    const replica = this.replica(0);
    return replica.run(null, () => this.perform(operation, replica, AbortSignal.abort()));
  }

  /**
   * What time does by itself in half a minute. With the deadlines the clocks of the processes go on, and first: a
   * claim that is overdue is that old for whoever activates it, too.
   */
  async passTime(what: 'deadlines' | 'leases' | 'places'): Promise<void> {
    if (what === 'deadlines') return this.passDeadlines();
    const past = {
      leases: `UPDATE runtime.slot SET lease_until = now() - interval '1 second' WHERE holder IS NOT NULL AND state = 'ready'`,
      places: `UPDATE runtime.waiting SET seen_at = now() - interval '1 minute'`,
    };
    await this.owner.query(past[what]);
  }

  private async passDeadlines(): Promise<void> {
    const { rows } = await this.owner.query<{ id: string }>(
      `SELECT claim_id AS id FROM runtime.claim WHERE state = 'bound'`,
    );
    this.passedMs += DEADLINE_MS;
    await this.owner.query(
      `UPDATE runtime.claim SET deadline = now() - interval '1 second' WHERE state = 'bound' AND claim_id = ANY ($1)`,
      [rows.map(({ id }) => id)],
    );
  }

  /** A crash of the database or of a process, after the answer: it does not know any more that a claim is active. */
  async loseMark(which: number): Promise<void> {
    const { rows } = await this.owner.query<{ id: string }>(
      `SELECT claim_id AS id FROM runtime.claim WHERE state = 'active' AND ended_at IS NULL ORDER BY claim_id`,
    );
    const id = rows[which % Math.max(1, rows.length)]?.id;
    if (id === undefined) return;
    // Past the guard, which knows no way back.
    await this.owner.query(
      `BEGIN; SET LOCAL session_replication_role = replica;
       UPDATE runtime.claim SET state = 'bound' WHERE claim_id = '${id}' AND ended_at IS NULL;
       UPDATE runtime.slot SET state = 'bound' WHERE claim_id = '${id}' AND state = 'active';
       UPDATE runtime.session SET status = 'starting' WHERE claim_id = '${id}' AND status = 'running'; COMMIT`,
    );
  }

  /** Processes that work until all is done; what living replicas do by themselves in half a minute. */
  async settle(): Promise<void> {
    await this.quiet();
    for (const what of ['deadlines', 'leases', 'places'] as const) await this.passTime(what);
    await this.owner.query(
      `UPDATE runtime.session SET changed_at = now() - interval '1 minute' WHERE status = 'starting'`,
    );
    for (const kind of ['serve', 'reap', 'fill', 'reap', 'renew', 'fill', 'fill', 'serve', 'note', 'reap'] as const)
      await this.run({ kind, crashAt: null });
  }

  /** What one process works with. */
  context(failpoints: PoolContext['failpoints']): PoolContext {
    return {
      db: this.db,
      backend: new FarmBackend(this.farm.url, this.template),
      ids: this.ids,
      logger: createLogger('world', 'silent'),
      failpoints,
      unkept: UNKEPT_BOUNDS,
      pace: LOCAL_PACE,
      pools: [POOL],
    };
  }

  /** Nothing of a dead process is on its way any more. */
  async quiet(): Promise<void> {
    await Promise.all([...this.dead, ...this.replicas.values()].map((replica) => replica.quiet()));
  }

  private replica(index: number): WorldReplica {
    const known = this.replicas.get(index);
    if (known !== undefined) return known;
    this.born += 1;
    const fresh = new WorldReplica(
      `replica-${this.born}`,
      (failpoints) => this.context(failpoints),
      this.keys,
      () => performance.now() + this.passedMs,
    );
    this.replicas.set(index, fresh);
    return fresh;
  }

  private bury(index: number, replica: WorldReplica): void {
    if (this.replicas.get(index) !== replica) return;
    this.crashes += 1;
    if (replica.diedAt !== null) this.crashedAt.add(replica.diedAt);
    this.replicas.delete(index);
    this.dead.push(replica);
  }

  private async perform(operation: Operation, replica: WorldReplica, gone: AbortSignal): Promise<Result> {
    const { context, service, warmSlots } = replica;
    const signal = AbortSignal.timeout(20_000);
    switch (operation.kind) {
      case 'fill': {
        await planPool(context, POOL, await countStock(this.db, POOL_ID));
        await Promise.all(
          (await slotsIn(this.db, POOL_ID, ['doomed', 'releasing'])).map((slot) => removeSlot(context, slot, signal)),
        );
        const begun = await beginCreation(context, await slotsIn(this.db, POOL_ID, ['intent', 'provisioning']));
        await Promise.all(begun.map((slot) => provisionSlot(context, POOL, slot, signal)));
        return { result: 'done' };
      }
      case 'reap':
        await replica.reaper.pass(signal);
        return { result: 'done' };
      case 'expire':
        await this.passTime('deadlines');
        await replica.reaper.pass(signal);
        return { result: 'done' };
      case 'renew':
        await renewPool(context, POOL);
        return { result: 'done' };
      case 'lease':
        await warmSlots.renew();
        return { result: 'done' };
      case 'serve':
        await serveWaiting(this.db, POOL_ID);
        return { result: 'done' };
      case 'note':
        await replica.notes.pass(signal);
        return { result: 'done' };
      default:
        break;
    }
    const answer = async (): Promise<{ url: string; status: string; status_detail?: string | undefined }> => {
      const { org, session } = operation;
      if (operation.kind === 'start')
        return service.start(
          org,
          { session_id: session, environment: { BODY: operation.body } },
          { waitMs: operation.waitMs ?? 0, gone },
        );
      const { runtime_id } = await replica.reads.session(org, session);
      return operation.kind === 'resume'
        ? service.resume(org, runtime_id, { waitMs: 0, gone })
        : service[operation.kind](org, runtime_id);
    };
    const { url, status, status_detail } = await answer();
    return { result: 'answered', url, status, detail: status_detail };
  }
}

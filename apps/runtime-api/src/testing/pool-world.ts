import { generateKeyPairSync } from 'node:crypto';
import { SecretBox } from '@slipway/auth/secret-box';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { FarmBackend, SandboxFarm } from '@slipway/sandbox/testing';
import { createLogger } from '@slipway/telemetry';
import { Counter, Histogram, Registry } from '@slipway/telemetry/http';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { countStock, slotsIn, upsertPool } from '../pool/pool.queries.js';
import { LOCAL_PACE, type PoolContext, type PoolSpec } from '../pool/pool-context.js';
import { renewPool } from '../pool/pool-renewal.js';
import { Reaper } from '../pool/reaper.js';
import { beginCreation, planPool, provisionSlot } from '../pool/slot-provisioning.js';
import { removeSlot } from '../pool/slot-removal.js';
import { Activator } from '../runtimes/activator.js';
import { Claims } from '../runtimes/claims.js';
import { RuntimesService } from '../runtimes/runtimes.service.js';

export const TARGET = 3;
export const CAP = 2;
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

/** One thing that one process does; `crashAt`: it dies when it comes to that step between two of its writes, counted from 1. */
export type Operation = { readonly crashAt: number | null } & (
  | { readonly kind: 'start'; readonly org: string; readonly session: string; readonly body: string }
  | { readonly kind: 'pause' | 'stop' | 'resume'; readonly org: string; readonly session: string }
  | { readonly kind: 'fill' | 'reap' | 'renew' | 'expire' }
);

export type Result =
  | { readonly result: 'crashed' }
  | { readonly result: 'answered'; readonly url: string; readonly status: string }
  | { readonly result: 'refused'; readonly code: string }
  | { readonly result: 'done' };

/**
 * Any number of runtime-api processes over one real Postgres and one farm of sandboxes. Each operation runs in a process of its own,
 * which may die between any two steps: from then on nothing of it goes on, no `catch` and no `finally` either.
 */
export class PoolWorld {
  private readonly ids = createIds(systemClock);
  private readonly keys: { box: SecretBox; activation: ReturnType<typeof generateKeyPairSync> };
  private readonly metrics = {
    claims: new Counter({ name: 'claims', help: '-', labelNames: ['result' as const], registers: [new Registry()] }),
    durations: new Histogram({ name: 'durations', help: '-', registers: [new Registry()] }),
  };
  private reaperMemory: Reaper | undefined;
  template = 'first';
  crashes = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly db: SqlPool,
    readonly owner: SqlPool,
    readonly farm: SandboxFarm,
    activation: ReturnType<typeof generateKeyPairSync>,
  ) {
    this.keys = { box: new SecretBox('an encryption key of the test, long enough'), activation };
  }

  static async open(): Promise<PoolWorld> {
    const database = await createTestDatabase();
    const activation = generateKeyPairSync('ed25519');
    const farm = await new SandboxFarm(activation.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')).start();
    const open = (url: string): SqlPool => createPool({ url, max: 12, applicationName: 'pool-world', onError: () => {} });
    return new PoolWorld(database, open(database.urls.runtime), open(database.ownerUrl), farm, activation);
  }

  async close(): Promise<void> {
    await Promise.all([this.db.end(), this.owner.end()]);
    await this.farm.close();
    await this.database.close();
  }

  /** Everything as on the first day. */
  async reset(): Promise<void> {
    await this.owner.query('TRUNCATE runtime.pool, runtime.slot, runtime.claim, runtime.session, runtime.org_usage');
    this.farm.sandboxes.clear();
    this.farm.workspaces.clear();
    this.farm.unreachable.clear();
    this.farm.history.length = 0;
    this.template = 'first';
    this.reaperMemory = undefined;
    await this.savePool();
  }

  async savePool(): Promise<void> {
    await upsertPool(this.db, { ...POOL, template: this.template });
  }

  async run(operation: Operation): Promise<Result> {
    let steps = 0;
    let die = (_result: Result): void => {};
    const death = new Promise<Result>((resolve) => {
      die = resolve;
    });
    const never = new Promise<void>(() => {});
    const context = this.context(() => {
      steps += 1;
      if (operation.crashAt === null || steps < operation.crashAt) return;
      if (steps === operation.crashAt) this.crashes += 1;
      die({ result: 'crashed' });
      return never;
    });
    return Promise.race([death, this.perform(operation, context)]);
  }

  /** A process that works until all is done; what a living replica does by itself in a few seconds. */
  async settle(): Promise<void> {
    await this.owner.query(`UPDATE runtime.claim SET deadline = now() - interval '1 second' WHERE state = 'bound'`);
    await this.owner.query(`UPDATE runtime.session SET changed_at = now() - interval '1 minute' WHERE status = 'starting'`);
    for (const kind of ['reap', 'fill', 'reap', 'renew', 'fill', 'fill', 'reap'] as const) await this.run({ kind, crashAt: null });
  }

  /** What one process works with. */
  context(failpoints: PoolContext['failpoints']): PoolContext {
    return {
      db: this.db,
      backend: new FarmBackend(this.farm.url, this.template),
      ids: this.ids,
      logger: createLogger('world', 'silent'),
      failpoints,
      pace: LOCAL_PACE,
      pools: [POOL],
    };
  }

  private async perform(operation: Operation, context: PoolContext): Promise<Result> {
    const signal = AbortSignal.timeout(20_000);
    switch (operation.kind) {
      case 'fill': {
        await planPool(context, POOL, await countStock(this.db, POOL_ID));
        await Promise.all((await slotsIn(this.db, POOL_ID, ['doomed', 'releasing'])).map((slot) => removeSlot(context, slot, signal)));
        const begun = await beginCreation(context, await slotsIn(this.db, POOL_ID, ['intent', 'provisioning']));
        await Promise.all(begun.map((slot) => provisionSlot(context, POOL, slot, signal)));
        return { result: 'done' };
      }
      case 'reap':
        // What it has seen once is forgotten with the process.
        if (operation.crashAt !== null) await new Reaper(context).pass(signal);
        else {
          this.reaperMemory ??= new Reaper(this.context(() => {}));
          await this.reaperMemory.pass(signal);
        }
        return { result: 'done' };
      case 'expire':
        await this.owner.query(`UPDATE runtime.claim SET deadline = now() - interval '1 second'`);
        await new Reaper(context).pass(signal);
        return { result: 'done' };
      case 'renew':
        await renewPool(context, POOL);
        return { result: 'done' };
      default:
        return this.request(operation, this.service(context), new AbortController().signal);
    }
  }

  /** A request whose caller has gone before anything was done for it. */
  runForNobody(operation: Extract<Operation, { org: string }>): Promise<Result> {
    return this.request(operation, this.service(this.context(() => {})), AbortSignal.abort());
  }

  private async request(operation: Extract<Operation, { org: string }>, service: RuntimesService, gone: AbortSignal): Promise<Result> {
    try {
      if (operation.kind === 'start') {
        const runtime = await service.start(operation.org, { session_id: operation.session, environment: { BODY: operation.body } }, gone);
        return { result: 'answered', url: runtime.url, status: runtime.status };
      }
      const { runtime_id } = await service.session(operation.org, operation.session);
      const runtime = await service[operation.kind](operation.org, runtime_id, gone);
      return { result: 'answered', url: runtime.url, status: runtime.status };
    } catch (error) {
      if (error instanceof SlipwayError) return { result: 'refused', code: error.code };
      throw error;
    }
  }

  private service(context: PoolContext): RuntimesService {
    const supply = { kick: () => {}, taken: () => {}, nextReady: async () => {} };
    const activator = new Activator(context, this.keys.box, this.keys.activation.privateKey, systemClock);
    const claims = new Claims(context, supply, activator, this.keys.box, { orgSandboxLimit: CAP, emptyWaitMs: 0 }, this.metrics);
    return new RuntimesService(context, claims, supply, this.keys.box);
  }
}

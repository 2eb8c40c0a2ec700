import { setTimeout as wait } from 'node:timers/promises';
import type { PostgresSession } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { PoolContext } from '../pool/pool-context.js';
import { Batcher } from './batcher.js';
import {
  type ActiveRuntime,
  activateBatch,
  type BindLimits,
  type BindOutcome,
  type BindRequest,
  bindBatch,
  type MarkRequest,
} from './bind.queries.js';
import { ClaimQueue, type Turn } from './claim-queue.js';
import { type LeasedSlot, renewLeases, returnLeases } from './lease.queries.js';
import { LeasedSlots } from './leased-slots.js';
import { listenToQueues, type QueueEvents } from './queue-notifications.js';
import { serveWaiting } from './waiting.queries.js';

/**
 * Claims of one batch. Measured with 300 under way (bench/claim-strategies.ts): 64 cost a fifth less processor a claim
 * than 32.
 */
const BATCH_MOST = 64;
const BATCHES_IN_FLIGHT = 2;
/**
 * Pauses before a mark beside its answer is tried again. Milliseconds. When all of them have failed, the reaper finds
 * the sandbox's receipt at the claim's deadline.
 */
const MARK_PAUSES_MS = [100, 300, 1_000, 3_000];

export interface WarmSlotsOptions extends BindLimits {
  readonly replicaId: string;
  /** Lifetime of a lease. Seconds; renewed at a third of it. */
  readonly leaseSeconds: number;
  /** `performance.now()` when absent. */
  readonly monotonicMs?: () => number;
}

export type WarmSlotsContext = Pick<PoolContext, 'db' | 'logger' | 'failpoints' | 'pools'>;

/**
 * All that this replica holds of the warm pools: leased slots, claims on their way in batches, requests that wait for
 * their turn.
 */
export class WarmSlots {
  /** The age of a claim goes by it: a clock that goes on while the process is stopped. Milliseconds. */
  readonly monotonicMs: () => number;
  private readonly queue: ClaimQueue;
  private readonly leased: ReadonlyMap<string, LeasedSlots>;
  private readonly binds: Batcher<BindRequest, BindOutcome>;
  private readonly marks: Batcher<MarkRequest, ActiveRuntime | null>;
  private readonly events: QueueEvents;
  private readonly onError: (error: unknown) => void;
  private notifications: PostgresSession | null = null;
  /** Marks beside their answers, by organization. */
  private readonly marking = new Map<string, Set<Promise<void>>>();
  private readonly yielding = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> = Promise.resolve();

  /** @param wanted called when a claim waits for a pool, here or at another replica. */
  constructor(
    private readonly context: WarmSlotsContext,
    private readonly options: WarmSlotsOptions,
    wanted: (poolId: string) => void = () => {},
  ) {
    const { db, logger, pools } = context;
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    const onError = (error: unknown): void => logger.warn({ err: error }, 'failed to lease slots, will retry');
    this.leased = new Map(
      pools.map(({ poolId }) => [
        poolId,
        new LeasedSlots(db, { poolId, replicaId: options.replicaId, leaseSeconds: options.leaseSeconds, onError }),
      ]),
    );
    const batches = { most: BATCH_MOST, inFlight: BATCHES_IN_FLIGHT, keyOf: sessionKeyOf };
    this.binds = new Batcher<BindRequest, BindOutcome>((requests) => this.bindAll(requests), batches);
    this.marks = new Batcher<MarkRequest, ActiveRuntime | null>((marks) => activateBatch(db, marks), batches);
    this.queue = new ClaimQueue(db, onError);
    const served = (): void => void this.queue.look();
    const giveUp = (poolId: string): void => {
      wanted(poolId);
      void this.yield(poolId).catch(onError);
    };
    // Waiting claims may have been notified, or need slots held here: now, not with the next poll.
    const opened = (): void => {
      served();
      void this.renew();
    };
    this.events = { served, wanted: giveUp, opened };
    this.onError = onError;
  }

  /** Begins to lease and to listen. Without it every claim searches its slot itself. */
  start(): void {
    this.notifications = listenToQueues(this.context.db, this.events, this.onError);
    this.timer = setInterval(() => void this.renew(), (this.options.leaseSeconds * 1_000) / 3);
    this.timer.unref();
    void this.renew();
  }

  /** Sends those who wait away, with their places kept: another replica goes on with them. */
  closeQueue(): void {
    this.queue.close();
  }

  /** Gives all leases back. Claims that are bound are not touched. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.notifications?.close();
    await Promise.all([...this.marking.keys()].map((orgId) => this.marked(orgId)));
    await this.renewing;
    await Promise.all([...this.leased.values()].map((slots) => slots.returnAll())).catch((error: unknown) => {
      this.context.logger.warn({ err: error }, 'failed to release leases, they expire');
    });
  }

  /** Leases the missing slots of each pool. */
  async fill(): Promise<void> {
    await Promise.all([...this.leased.values()].map((slots) => slots.refill()));
  }

  /** @throws SlipwayError `service.unavailable` when a lock that it needs is held for too long. */
  async bind(request: BindRequest): Promise<BindOutcome> {
    try {
      return await this.binds.run(request);
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== '55P03') throw error;
      throw new SlipwayError('service.unavailable', 'The session is being changed by another request.', {
        retryAfterSeconds: 1,
        cause: error,
      });
    }
  }

  /** The sandbox has accepted its claim. `null`: the claim has ended meanwhile. */
  mark(mark: MarkRequest): Promise<ActiveRuntime | null> {
    return this.marks.run(mark);
  }

  /** As `mark`, while its caller is answered. What fails is tried again for some seconds. */
  markBeside(mark: MarkRequest): void {
    const ofOrg = this.marking.get(mark.orgId) ?? new Set();
    this.marking.set(mark.orgId, ofOrg);
    const first = this.marks.run(mark).then(
      (active) => this.noteMarked(mark, active),
      (error: unknown) => void this.markAgain(mark, error),
    );
    ofOrg.add(first);
    void first.finally(() => {
      ofOrg.delete(first);
      if (ofOrg.size === 0) this.marking.delete(mark.orgId);
    });
  }

  /** The marks of an organization that are on their way beside their answers have been tried. */
  async marked(orgId: string): Promise<void> {
    await Promise.all(this.marking.get(orgId) ?? []);
  }

  /** Nothing that was begun beside an answer is on its way any more. */
  async settled(): Promise<void> {
    await Promise.all([
      ...[...this.marking.keys()].map((orgId) => this.marked(orgId)),
      ...[...this.leased.values()].map((slots) => slots.settled()),
    ]);
  }

  /**
   * Waits in the queue of a pool as a claim that is queued, after this replica has put what it held of the pool at the
   * disposal of the queue.
   */
  async waitForTurn(poolId: string, claimId: string, timeoutMs: number, gone: AbortSignal): Promise<Turn> {
    const until = performance.now() + timeoutMs;
    await this.context.failpoints('claim.queued');
    await this.yield(poolId);
    await this.context.failpoints('queue.served');
    return this.queue.wait(poolId, claimId, Math.max(0, until - performance.now()), gone);
  }

  /** Keeps what is held, gives back what is too much, and what others wait for. */
  renew(): Promise<void> {
    this.renewing = this.renewing
      .then(() => this.renewOnce())
      .catch((error: unknown) =>
        this.context.logger.warn({ err: error }, 'failed to renew leases, they expire unless renewed'),
      );
    return this.renewing;
  }

  private noteMarked({ claimId, orgId }: MarkRequest, active: ActiveRuntime | null): void {
    if (active === null)
      this.context.logger.info({ claim_id: claimId, org_id: orgId }, 'claim ended right after its answer');
  }

  private async markAgain(mark: MarkRequest, error: unknown): Promise<void> {
    let reason = error;
    for (const pause of MARK_PAUSES_MS) {
      await wait(pause, undefined, { ref: false });
      try {
        this.noteMarked(mark, await this.marks.run(mark));
        return;
      } catch (again) {
        reason = again;
      }
    }
    this.context.logger.warn(
      { err: reason, claim_id: mark.claimId, org_id: mark.orgId },
      'failed to mark a claim active, the reaper reads its receipt at the deadline',
    );
  }

  private async bindAll(requests: readonly BindRequest[]): Promise<BindOutcome[]> {
    const { db } = this.context;
    const items = requests.map((request) => ({ request, slot: this.leased.get(request.poolId)?.pop() ?? null }));
    const outcomes = await bindBatch(db, this.options.replicaId, items, this.options).catch(async (error: unknown) => {
      await this.giveBack(items.flatMap(({ slot }) => (slot === null ? [] : [slot])));
      throw error;
    });
    const lost: LeasedSlot[] = [];
    outcomes.forEach((outcome, index) => {
      const { request, slot } = items[index] as (typeof items)[number];
      if (slot === null || (outcome.outcome === 'bound' && !outcome.lost)) return;
      if (outcome.lost) lost.push(slot);
      else this.leased.get(request.poolId)?.put(slot);
    });
    if (lost.length > 0) void this.giveBack(lost);
    return outcomes;
  }

  /** Others wait: what is held of the pool is theirs. Once at a time for each pool. */
  private yield(poolId: string): Promise<void> {
    const under = this.yielding.get(poolId);
    if (under !== undefined) return under;
    const done = this.yieldOnce(poolId).finally(() => this.yielding.delete(poolId));
    this.yielding.set(poolId, done);
    return done;
  }

  private async yieldOnce(poolId: string): Promise<void> {
    await this.leased.get(poolId)?.returnAll();
    await serveWaiting(this.context.db, poolId);
  }

  /** Perhaps still leased by this replica, perhaps not: whoever comes next need not wait until it ends. */
  private async giveBack(slots: readonly LeasedSlot[]): Promise<void> {
    if (slots.length === 0) return;
    await returnLeases(this.context.db, this.options.replicaId, slots).catch(() => {
      // It ends by itself.
    });
  }

  private async renewOnce(): Promise<void> {
    const { db } = this.context;
    const { replicaId, leaseSeconds } = this.options;
    const surplus = [...this.leased.values()].flatMap((slots) => slots.takeSurplus());
    await this.giveBack(surplus);
    const asked = performance.now();
    const held = [...this.leased.values()].flatMap((slots) => slots.slots);
    const { kept, wanted } = await renewLeases(db, replicaId, held, leaseSeconds);
    for (const slots of this.leased.values()) slots.renewed(kept, asked);
    for (const poolId of wanted) await this.yield(poolId);
    await this.fill();
  }
}

/** No session is twice in a batch. */
function sessionKeyOf({ orgId, sessionId }: { readonly orgId: string; readonly sessionId: string }): string {
  return `${orgId}/${sessionId}`;
}

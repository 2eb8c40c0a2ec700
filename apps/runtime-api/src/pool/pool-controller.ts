import { setTimeout as wait } from 'node:timers/promises';
import { Arrivals } from './arrivals.js';
import { BlankYield } from './blank-yield.js';
import { Duties, type Duty } from './duties.js';
import { KeepWarm } from './keep-warm.js';
import { LeadRun } from './lead-run.js';
import { leadWhile } from './leadership.js';
import { countPools, type PoolCounts, retirePools, upsertPool } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import { PoolKeeper } from './pool-keeper.js';
import { renewPool } from './pool-renewal.js';
import { PoolTargets } from './pool-targets.js';
import { Reaper } from './reaper.js';
import { Seats } from './seats.js';
import { type SessionLimitOptions, SessionLimits } from './session-limits.js';

/**
 * Longest interval of two passes over the pools. Milliseconds; few warm slots and changes in sandboxes bring the next
 * one forward.
 */
const TICK_MS = 250;
/** Shortest interval of two passes; and its multiple of a pass's duration. Milliseconds. */
const KICK_MS = 20;
const REST_FACTOR = 4;
/**
 * Longest pause, however long a pass has taken: a process that was stopped for a while must not pause for four times as
 * long. Milliseconds.
 */
const REST_MOST_MS = 1_000;

/** Keeps the pools at their targets, removes what is over, and repairs. Every replica has one; one leads. */
export class PoolController {
  private readonly stop = new AbortController();
  private readonly duties: Duties;
  private readonly keepers = new Map<string, PoolKeeper>();
  private readonly arrivals: Arrivals;
  private readonly seats: Seats;
  private running: Promise<void> | undefined;
  private wake: () => void = () => {};
  private woken = false;
  private turn = 0;
  /** The template that each pool was introduced with, by its id. */
  private readonly introduced = new Map<string, string>();

  /**
   * @param further what else the replica that leads does.
   * @param leadRun where each round of it is noted.
   */
  constructor(
    private readonly context: PoolContext,
    private readonly limits: SessionLimitOptions,
    private readonly further: readonly Duty[] = [],
    private readonly leadRun: LeadRun = new LeadRun(context.db),
  ) {
    this.arrivals = new Arrivals(context.db, context.logger);
    this.seats = new Seats(context.pace.startsAtOnce);
    this.duties = new Duties(context.logger, this.stop.signal, () => this.kick());
    for (const pool of context.pools) this.keep(pool);
  }

  start(): void {
    this.running ??= leadWhile(this.context.db, this.context.logger, this.stop.signal, (signal) => this.lead(signal));
  }

  /** Ends leading. Sandboxes go on; the next leader takes them over. */
  async close(): Promise<void> {
    this.stop.abort();
    this.arrivals.close();
    await this.running;
  }

  /** A slot was taken: this replica's claims are not disturbed by refilling while warm slots last. */
  taken(poolId: string): void {
    this.arrivals.count(poolId);
    if (this.keepers.get(poolId)?.taken() === true) this.kick();
  }

  /** A sandbox is needed or has changed: starts a pass now. No-op in a replica that does not lead. */
  kick(): void {
    this.woken = true;
    this.wake();
  }

  /**
   * Answers when a slot of the pool may have become ready: at once when this replica makes it so, after `timeoutMs` at
   * the latest.
   */
  async nextReady(poolId: string, timeoutMs: number): Promise<void> {
    await this.keepers.get(poolId)?.nextReady(timeoutMs);
  }

  private keep(pool: PoolSpec): void {
    const whenReady = (): void => this.duties.hint('ready');
    this.keepers.set(
      pool.poolId,
      new PoolKeeper(this.context, pool, this.seats, (name, task) => this.duties.apart(name, task), whenReady),
    );
  }

  private async lead(signal: AbortSignal): Promise<void> {
    const { context, duties } = this;
    this.introduced.clear();
    await this.introducePools();
    await this.retirePools();
    duties.begin([...this.ownDuties(), ...this.further]);
    const unlisten = context.backend.onChange(() => {
      duties.hint('change');
      this.kick();
    });
    try {
      while (!signal.aborted) {
        const began = performance.now();
        this.woken = false;
        duties.runDue(signal);
        await this.fillAll(signal).then(
          () => this.leadRun.completed(),
          (error: unknown) => duties.report('filling the pools', error),
        );
        await this.pause(performance.now() - began, signal);
      }
    } finally {
      unlisten();
    }
  }

  /** New for each time that this replica leads: nothing of an earlier time is remembered. */
  private ownDuties(): Duty[] {
    const { context } = this;
    const { backend, pools } = context;
    const reaper = new Reaper(context);
    const blankYield = new BlankYield(context);
    const targets = new PoolTargets(context, () => blankYield.holds);
    const limits = new SessionLimits(context, this.limits);
    const warm = pools.map((pool) => new KeepWarm(context, pool.poolId));
    return [
      { name: 'tending', everyMs: 500, sooner: { on: 'change', soonestMs: 0 }, work: (signal) => backend.tend(signal) },
      // Each goes through all sandboxes, beside the claims of this replica: ten thousand take some ten milliseconds.
      {
        name: 'avoiding',
        everyMs: 3_000,
        sooner: { on: 'change', soonestMs: 1_000 },
        work: (signal) => reaper.avoid(signal),
      },
      // Everything against everything, and between that only what has changed.
      { name: 'reaping', everyMs: 30_000, work: (signal) => reaper.pass(signal) },
      {
        name: 'looking',
        everyMs: 3_000,
        sooner: { on: 'change', soonestMs: 1_000 },
        work: (signal) => reaper.look(signal),
      },
      { name: 'yielding', everyMs: 5_000, work: () => blankYield.pass() },
      { name: 'sizing', everyMs: 1_000, work: () => targets.pass() },
      // What sandboxes are made of may change while this replica leads: an address that they are given.
      { name: 'introducing', everyMs: 2_000, work: () => this.introducePools() },
      {
        name: 'renewing',
        everyMs: 2_000,
        work: () => eachOf([...this.keepers.keys()], (poolId) => renewPool(context, { poolId })),
      },
      { name: 'checking', everyMs: 2_000, work: (signal) => eachOf(warm, (pool) => pool.pass(signal)) },
      { name: 'limiting', everyMs: 60_000, work: (signal) => limits.pass(signal) },
      { name: 'collecting', everyMs: 300_000, work: (signal) => reaper.deleteWorkspaces(signal) },
      { name: 'forgetting', everyMs: 3_600_000, work: () => reaper.forget() },
    ];
  }

  /**
   * What is configured is what there is. One that the backend cannot make does not stop the others, and is tried again.
   */
  private async introducePools(): Promise<void> {
    const { db, backend, pools } = this.context;
    for (const pool of pools) {
      try {
        const template = backend.templateOf(pool);
        if (this.introduced.get(pool.poolId) === template) continue;
        await upsertPool(db, { ...pool, template });
        this.introduced.set(pool.poolId, template);
      } catch (error) {
        this.duties.report(`preparing the pool ${pool.poolId}`, error);
      }
    }
  }

  /** What is left of pools that are configured no longer is removed. */
  private async retirePools(): Promise<void> {
    const { db, pools } = this.context;
    const configured = pools.map((pool) => pool.poolId);
    for (const { poolId, image } of await retirePools(db, configured))
      this.keep({
        poolId,
        image,
        imageReference: null,
        runtimeClass: null,
        size: 1,
        bounds: { min: 0, max: 0 },
        maxAgeSeconds: 1,
      });
  }

  private async fillAll(signal: AbortSignal): Promise<void> {
    const byPool: ReadonlyMap<string, PoolCounts> = await countPools(this.context.db);
    this.turn += 1;
    // Each is the first in its turn: a pool short of thousands must not take every seat from one short of two.
    const first = this.turn % this.keepers.size;
    const keepers = [...this.keepers];
    for (const [poolId, keeper] of [...keepers.slice(first), ...keepers.slice(0, first)]) {
      const counts = byPool.get(poolId);
      if (counts !== undefined)
        await keeper.fill(counts, signal).catch((error: unknown) => this.duties.report(`filling ${poolId}`, error));
    }
  }

  private async pause(tookMs: number, signal: AbortSignal): Promise<void> {
    if (this.woken) {
      // Many kicks in a row cause one pass.
      await wait(Math.min(REST_MOST_MS, Math.max(KICK_MS, tookMs * REST_FACTOR)), undefined, { signal }).catch(
        () => {},
      );
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, TICK_MS);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener('abort', this.wake, { once: true });
    });
    signal.removeEventListener('abort', this.wake);
    this.wake = () => {};
  }
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

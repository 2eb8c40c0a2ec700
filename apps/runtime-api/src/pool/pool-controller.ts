import { setTimeout as wait } from 'node:timers/promises';
import { Arrivals } from './arrivals.js';
import { KeepWarm } from './keep-warm.js';
import { leadWhile } from './leadership.js';
import { countStocks, retirePools, upsertPool } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import { PoolKeeper } from './pool-keeper.js';
import { renewPool } from './pool-renewal.js';
import { PoolTargets } from './pool-targets.js';
import { Reaper } from './reaper.js';
import { Seats } from './seats.js';
import { type SessionLimitOptions, SessionLimits } from './session-limits.js';

/** Longest time between two looks at the pools. Milliseconds; a low stock and changes in sandboxes bring the next one forward. */
const TICK_MS = 250;
/** Shortest time between two looks, and how many times longer than a look it is. Milliseconds. */
const KICK_MS = 20;
const REST_FACTOR = 4;
/** How often each is done. Milliseconds. */
const EVERY = {
  tend: 500,
  /** Everything against everything. */
  reap: 30_000,
  /** Only what has changed; hints of changes bring it forward, to `LOOK_AGAIN_MS` at the soonest. */
  look: 3_000,
  targets: 1_000,
  renew: 2_000,
  check: 2_000,
  limits: 60_000,
  workspaces: 300_000,
  forget: 3_600_000,
} as const;
const LOOK_AGAIN_MS = 250;

type Chore = keyof typeof EVERY;

/** Keeps the pools at their targets, removes what is over, and repairs. Every replica has one; one leads. */
export class PoolController {
  private readonly stop = new AbortController();
  private readonly busy = new Set<string>();
  private readonly failing = new Map<string, string>();
  private readonly keepers = new Map<string, PoolKeeper>();
  private readonly arrivals: Arrivals;
  private readonly seats: Seats;
  private running: Promise<void> | undefined;
  private wake: () => void = () => {};
  private woken = false;
  private changed = false;

  constructor(
    private readonly context: PoolContext,
    private readonly limits: SessionLimitOptions,
  ) {
    this.arrivals = new Arrivals(context.db, context.logger);
    this.seats = new Seats(context.pace.startsAtOnce);
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

  /** A slot was taken: this replica's claims are not disturbed by refilling while the stock lasts. */
  taken(poolId: string): void {
    this.arrivals.count(poolId);
    if (this.keepers.get(poolId)?.taken() === true) this.kick();
  }

  /** A sandbox is needed or has changed: look now. Nothing happens in a replica that does not lead. */
  kick(): void {
    this.woken = true;
    this.wake();
  }

  /** Answers when a slot of the pool may have become ready: at once when this replica makes it so, after `timeoutMs` at the latest. */
  async nextReady(poolId: string, timeoutMs: number): Promise<void> {
    await this.keepers.get(poolId)?.nextReady(timeoutMs);
  }

  private keep(pool: PoolSpec): void {
    this.keepers.set(pool.poolId, new PoolKeeper(this.context, pool, this.seats, (name, task) => this.apart(name, task)));
  }

  private async lead(signal: AbortSignal): Promise<void> {
    const { context } = this;
    await this.introducePools();
    const reaper = new Reaper(context);
    const targets = new PoolTargets(context);
    const limits = new SessionLimits(context, this.limits);
    const warm = context.pools.map((pool) => new KeepWarm(context, pool.poolId));
    const unlisten = context.backend.onChange(() => {
      this.changed = true;
      this.kick();
    });
    const chores: Record<Exclude<Chore, 'targets'>, () => Promise<unknown>> = {
      tend: () => context.backend.tend(signal),
      reap: () => reaper.pass(signal),
      look: () => reaper.look(signal),
      renew: () => eachOf([...this.keepers.keys()], (poolId) => renewPool(context, { poolId })),
      check: () => eachOf(warm, (pool) => pool.pass(signal)),
      limits: () => limits.pass(signal),
      workspaces: () => reaper.deleteWorkspaces(signal),
      forget: () => reaper.forget(),
    };
    const due: Record<Chore, number> = {
      tend: 0,
      reap: 0,
      look: 0,
      targets: 0,
      renew: 0,
      check: 0,
      limits: 0,
      workspaces: 0,
      forget: performance.now() + EVERY.forget,
    };
    const isDue = (chore: Chore): boolean => {
      if (performance.now() < due[chore]) return false;
      due[chore] = performance.now() + EVERY[chore];
      return true;
    };
    try {
      while (!signal.aborted) {
        const began = performance.now();
        this.woken = false;
        if (this.changed) {
          due.tend = 0;
          due.look = Math.min(due.look, due.look - EVERY.look + LOOK_AGAIN_MS);
        }
        this.changed = false;
        // Each apart from the others: a sandbox that hangs must not keep the pool from filling.
        for (const [chore, work] of Object.entries(chores) as Array<[Chore, () => Promise<unknown>]>) if (isDue(chore)) this.apart(chore, work);
        await this.fillAll(targets, isDue('targets'), signal).catch((error: unknown) => this.report('filling the pools', error));
        await this.pause(performance.now() - began, signal);
      }
    } finally {
      unlisten();
    }
  }

  /** What is configured is what there is; what is left of other pools is removed. One that the backend cannot make does not stop the others. */
  private async introducePools(): Promise<void> {
    const { db, backend, pools } = this.context;
    for (const pool of pools) {
      try {
        await upsertPool(db, { ...pool, template: backend.templateOf(pool) });
      } catch (error) {
        this.report(`preparing the pool ${pool.poolId}`, error);
      }
    }
    const configured = pools.map((pool) => pool.poolId);
    for (const { poolId, image } of await retirePools(db, configured))
      this.keep({ poolId, image, imageReference: null, runtimeClass: null, size: 1, bounds: { min: 0, max: 0 }, maxAgeSeconds: 1 });
  }

  private async fillAll(targets: PoolTargets, setTargets: boolean, signal: AbortSignal): Promise<void> {
    const stocks = await countStocks(this.context.db);
    for (const [poolId, keeper] of this.keepers) {
      const stock = stocks.get(poolId);
      if (stock !== undefined) await keeper.fill(stock, signal).catch((error: unknown) => this.report(`filling ${poolId}`, error));
    }
    if (setTargets) this.apart('setting targets', () => targets.pass(stocks));
  }

  /** Runs a task beside the loop, once at a time for each name, and looks at the pools again when a slot's is over. */
  private apart(name: string, task: () => Promise<unknown>): void {
    if (this.busy.has(name)) return;
    this.busy.add(name);
    void task().then(
      () => {
        this.busy.delete(name);
        if (this.failing.delete(name)) this.context.logger.info(`${name} works again`);
        if (name.includes(' ')) this.kick();
      },
      (error: unknown) => {
        this.busy.delete(name);
        this.report(name, error);
      },
    );
  }

  /** Says it once for each change of the reason: what is tried twice a second must not fill the log while a cluster is away. */
  private report(what: string, error: unknown): void {
    if (this.stop.signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    if (this.failing.get(what) === reason) return;
    this.failing.set(what, reason);
    this.context.logger.warn({ err: error }, `${what} failed; it is tried again`);
  }

  private async pause(tookMs: number, signal: AbortSignal): Promise<void> {
    if (this.woken) {
      // Many kicks in a row are one look.
      await wait(Math.max(KICK_MS, tookMs * REST_FACTOR), undefined, { signal }).catch(() => {});
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

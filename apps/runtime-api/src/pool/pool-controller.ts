import { setTimeout as wait } from 'node:timers/promises';
import { leadWhile } from './leadership.js';
import { upsertPool } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import { PoolKeeper } from './pool-keeper.js';
import { checkWarm, renewPool } from './pool-renewal.js';
import { Reaper } from './reaper.js';

/** Longest time between two looks at the pools. Milliseconds; a low stock and changes in sandboxes bring the next one forward. */
const TICK_MS = 250;
/** Shortest time between two looks. Milliseconds. */
const KICK_MS = 20;
const TEND_MS = 500;
const REAP_MS = 3_000;
const RENEW_MS = 2_000;
const FORGET_MS = 3_600_000;

/** Keeps the pools at their targets, removes what is over, and repairs. Every replica has one; one leads. */
export class PoolController {
  private readonly stop = new AbortController();
  private readonly busy = new Set<string>();
  private readonly keepers: ReadonlyMap<string, PoolKeeper>;
  private readonly reaper: Reaper;
  private running: Promise<void> | undefined;
  private wake: () => void = () => {};
  private woken = false;
  private reapSoon = false;

  constructor(private readonly context: PoolContext) {
    this.reaper = new Reaper(context);
    this.keepers = new Map(context.pools.map((pool) => [pool.poolId, new PoolKeeper(context, pool, (name, task) => this.apart(name, task))]));
  }

  start(): void {
    this.running ??= leadWhile(this.context.db, this.context.logger, this.stop.signal, (signal) => this.lead(signal));
  }

  /** Ends leading. Sandboxes go on; the next leader takes them over. */
  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  /** A slot was taken: this replica's claims are not disturbed by refilling while the stock lasts. */
  taken(poolId: string): void {
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

  private async lead(signal: AbortSignal): Promise<void> {
    const { db, backend, pools } = this.context;
    for (const pool of pools) await upsertPool(db, { ...pool, template: backend.templateOf(pool) });
    const unlisten = backend.onChange(() => {
      this.reapSoon = true;
      this.kick();
    });
    const due = { tend: 0, reap: 0, renew: 0, check: 0, forget: performance.now() + FORGET_MS };
    const isDue = (what: keyof typeof due, everyMs: number, now: boolean): boolean => {
      if (!now && performance.now() < due[what]) return false;
      due[what] = performance.now() + everyMs;
      return true;
    };
    try {
      while (!signal.aborted) {
        const changed = this.reapSoon;
        this.woken = false;
        this.reapSoon = false;
        // Each apart from the others: a sandbox that hangs must not keep the pool from filling.
        if (isDue('tend', TEND_MS, changed)) this.apart('tending', () => backend.tend(signal));
        if (isDue('reap', REAP_MS, changed)) this.apart('reaping', () => this.reaper.pass(signal));
        if (isDue('renew', RENEW_MS, false)) this.apart('renewing', () => this.eachPool((pool) => renewPool(this.context, pool)));
        if (isDue('check', RENEW_MS, false)) this.apart('checking', () => this.eachPool((pool) => checkWarm(this.context, pool, signal)));
        if (isDue('forget', FORGET_MS, false)) this.apart('forgetting', () => this.reaper.forget());
        for (const keeper of this.keepers.values()) await keeper.fill(signal).catch((error: unknown) => this.report(`filling ${keeper.pool.poolId}`, error));
        await this.pause(signal);
      }
    } finally {
      unlisten();
    }
  }

  private async eachPool(work: (pool: PoolSpec) => Promise<unknown>): Promise<void> {
    for (const pool of this.context.pools) await work(pool);
  }

  /** Runs a task beside the loop, once at a time for each name, and looks at the pool again when it has done something. */
  private apart(name: string, task: () => Promise<unknown>): void {
    if (this.busy.has(name)) return;
    this.busy.add(name);
    void task().then(
      () => {
        this.busy.delete(name);
        if (name.includes(' ')) this.kick();
      },
      (error: unknown) => {
        this.busy.delete(name);
        this.report(name, error);
      },
    );
  }

  private report(what: string, error: unknown): void {
    if (!this.stop.signal.aborted) this.context.logger.warn({ err: error }, `${what} failed; it is tried again`);
  }

  private async pause(signal: AbortSignal): Promise<void> {
    if (this.woken) {
      // Many kicks in a row are one look.
      await wait(KICK_MS, undefined, { signal }).catch(() => {});
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

import { setTimeout as wait } from 'node:timers/promises';
import { creationBackoffMs, mayRefill, REMOVABLE_SLOT_STATES } from '@slipway/domain';
import { leadWhile } from './leadership.js';
import { countStock, type Slot, slotsIn, upsertPool } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';
import { checkWarm, renewPool } from './pool-renewal.js';
import { Reaper } from './reaper.js';
import { beginCreation, planPool, provisionSlot } from './slot-provisioning.js';
import { removeSlot } from './slot-removal.js';

/** Longest time between two looks at the pool. Milliseconds; a low stock and changes in sandboxes bring the next one forward. */
const TICK_MS = 250;
/** Shortest time between two looks. Milliseconds. */
const KICK_MS = 20;
const TEND_MS = 500;
const REAP_MS = 3_000;
const RENEW_MS = 2_000;
const FORGET_MS = 3_600_000;
/** Sandboxes that start at the same time: more only take each other's processor. */
const STARTS_AT_ONCE = 4;

/** Keeps the pool at its target, removes what is over, and repairs. Every replica has one; one leads. */
export class PoolController {
  private readonly stop = new AbortController();
  private readonly busy = new Set<string>();
  private readonly readyListeners = new Set<() => void>();
  private readonly reaper: Reaper;
  private running: Promise<void> | undefined;
  private wake: () => void = () => {};
  private woken = false;
  private reapSoon = false;
  private starting = 0;
  private failures = 0;
  private notBefore = 0;
  /** What the last look found, less what was taken since by this replica. */
  private ready = 0;
  private takenAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: PoolContext) {
    this.reaper = new Reaper(context);
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
  taken(): void {
    this.takenAt = performance.now();
    this.ready -= 1;
    if (mayRefill(this.context.pool.target, this.ready, 0)) this.kick();
  }

  /** A sandbox is needed or has changed: look now. Nothing happens in a replica that does not lead. */
  kick(): void {
    this.woken = true;
    this.wake();
  }

  /** Answers when a slot may have become ready: at once when this replica makes it so, after `timeoutMs` at the latest. */
  nextReady(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.readyListeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.readyListeners.add(done);
    });
  }

  private async lead(signal: AbortSignal): Promise<void> {
    const { db, backend, pool } = this.context;
    await upsertPool(db, { ...pool, template: backend.template });
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
        if (isDue('renew', RENEW_MS, false)) this.apart('renewing', () => renewPool(this.context));
        if (isDue('check', RENEW_MS, false)) this.apart('checking', () => checkWarm(this.context, signal));
        if (isDue('forget', FORGET_MS, false)) this.apart('forgetting', () => this.reaper.forget());
        await this.fill(signal).catch((error: unknown) => this.report('filling', error));
        await this.pause(signal);
      }
    } finally {
      unlisten();
    }
  }

  /** Plans what is missing and works on every slot that nobody works on. Does not wait for the work. */
  private async fill(signal: AbortSignal): Promise<void> {
    const { db, pool } = this.context;
    const stock = await countStock(db, pool.poolId);
    this.ready = stock.ready;
    const refill = this.mayRefill();
    const planned = refill && performance.now() >= this.notBefore ? await planPool(this.context, stock.blank) : 0;
    if (stock.unfinished + planned === 0) return;
    // What is worked on while the rows are read may be done when they arrive: those rows say nothing, the next look does.
    const worked = new Set(this.busy);
    const idle = (await slotsIn(db, pool.poolId, ['intent', 'provisioning', 'doomed', 'releasing'])).filter(
      (slot) => !worked.has(`removing ${slot.slotId}`) && !worked.has(`starting ${slot.slotId}`),
    );
    for (const slot of idle) if (REMOVABLE_SLOT_STATES.has(slot.state)) this.apart(`removing ${slot.slotId}`, () => removeSlot(this.context, slot, signal));
    if (!refill) return;
    const next = idle.filter((slot) => !REMOVABLE_SLOT_STATES.has(slot.state)).slice(0, Math.max(0, STARTS_AT_ONCE - this.starting));
    for (const slot of await beginCreation(this.context, next)) this.apart(`starting ${slot.slotId}`, () => this.startSlot(slot, signal));
  }

  private mayRefill(): boolean {
    return mayRefill(this.context.pool.target, this.ready, performance.now() - this.takenAt);
  }

  private async startSlot(slot: Slot, signal: AbortSignal): Promise<void> {
    this.starting += 1;
    try {
      const result = await provisionSlot(this.context, slot, signal);
      if (result === 'failed') {
        this.failures += 1;
        this.notBefore = performance.now() + creationBackoffMs(this.failures);
      }
      if (result === 'ready') {
        this.failures = 0;
        for (const listener of [...this.readyListeners]) listener();
      }
    } finally {
      this.starting -= 1;
    }
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

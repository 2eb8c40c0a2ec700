import { creationBackoffMs, mayRefill, REMOVABLE_SLOT_STATES } from '@slipway/domain';
import { countStock, type Slot, slotsIn } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import { beginCreation, planPool, provisionSlot } from './slot-provisioning.js';
import { removeSlot } from './slot-removal.js';

/** Sandboxes of one pool that start at the same time: more only take each other's processor. */
const STARTS_AT_ONCE = 4;

/** Runs a task beside the loop, once at a time for each name, and looks at the pools again when it is over. */
export type Apart = (name: string, task: () => Promise<unknown>) => void;

/** Keeps one pool at its target: makes what is missing, removes what is over. What it remembers only decides when, never whether. */
export class PoolKeeper {
  private readonly busy = new Set<string>();
  private readonly readyListeners = new Set<() => void>();
  private starting = 0;
  private failures = 0;
  private notBefore = 0;
  /** What the last look found, less what was taken since by this replica. */
  private ready = 0;
  private takenAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly context: PoolContext,
    readonly pool: PoolSpec,
    private readonly apart: Apart,
  ) {}

  /** This replica's claims are not disturbed by refilling while the stock lasts. @returns whether it is time to look at the pool. */
  taken(): boolean {
    this.takenAt = performance.now();
    this.ready -= 1;
    return mayRefill(this.pool.target, this.ready, 0);
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

  /** Plans what is missing and works on every slot that nobody works on. Does not wait for the work. */
  async fill(signal: AbortSignal): Promise<void> {
    const { db } = this.context;
    const { pool } = this;
    const stock = await countStock(db, pool.poolId);
    this.ready = stock.ready;
    const refill = mayRefill(pool.target, this.ready, performance.now() - this.takenAt);
    const planned = refill && performance.now() >= this.notBefore ? await planPool(this.context, pool, stock.blank) : 0;
    if (stock.unfinished + planned === 0) return;
    // What is worked on while the rows are read may be done when they arrive: those rows say nothing, the next look does.
    const worked = new Set(this.busy);
    const idle = (await slotsIn(db, pool.poolId, ['intent', 'provisioning', 'doomed', 'releasing'])).filter((slot) => !worked.has(slot.slotId));
    for (const slot of idle) if (REMOVABLE_SLOT_STATES.has(slot.state)) this.work('removing', slot, () => removeSlot(this.context, slot, signal));
    if (!refill) return;
    const next = idle.filter((slot) => !REMOVABLE_SLOT_STATES.has(slot.state)).slice(0, Math.max(0, STARTS_AT_ONCE - this.starting));
    for (const slot of await beginCreation(this.context, next)) this.work('starting', slot, () => this.startSlot(slot, signal));
  }

  private work(what: 'removing' | 'starting', slot: Slot, task: () => Promise<unknown>): void {
    if (this.busy.has(slot.slotId)) return;
    this.busy.add(slot.slotId);
    this.apart(`${what} ${slot.slotId}`, () => task().finally(() => this.busy.delete(slot.slotId)));
  }

  private async startSlot(slot: Slot, signal: AbortSignal): Promise<void> {
    this.starting += 1;
    try {
      const result = await provisionSlot(this.context, this.pool, slot, signal);
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
}

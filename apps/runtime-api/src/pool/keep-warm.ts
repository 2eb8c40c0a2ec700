import { setTimeout as wait } from 'node:timers/promises';
import { inParallel } from './in-parallel.js';
import { doomSlot, type Slot, takeDueChecks } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';
import { sandboxHealth } from './slot-provisioning.js';

/** Probe interval of a warm sandbox. Seconds. */
const CHECK_SECONDS = 60;
/**
 * One that was silent is asked again after this long; silent then too, it is doomed. Milliseconds; a collector's pause
 * or a lost packet is over by then.
 */
const SECOND_ASK_MS = 5_000;
/** Most probes begun in one pass: ten thousand in a minute, at a pass every two seconds that takes another one. */
const LOOKS_A_PASS = 600;
/** Concurrent probes. As many as let a pass end in half a minute when no sandbox answers. */
const LOOKS_AT_ONCE = 32;
/**
 * The probes of a large pass are spread over about this long: concurrent claims share the processor with them.
 * Milliseconds.
 */
const SPREAD_MS = 1_000;
/** A pass of fewer is over in a moment. */
const SPREAD_FROM = 32;
/** When at least this many of one pass are silent, and more than half of them, it is the way to them that is broken. */
const DOUBTFUL = 8;

/**
 * Probes the warm sandboxes of one pool, each once a minute, and dooms those that are not blank, not well, or silent
 * twice.
 */
export class KeepWarm {
  /** Sandboxes that were silent at the last probe, and when to ask again. */
  private readonly silent = new Map<string, { readonly slot: Slot; readonly askAt: number }>();

  constructor(
    private readonly context: PoolContext,
    private readonly poolId: string,
    private readonly secondAskMs = SECOND_ASK_MS,
  ) {}

  /** One pass; for every two seconds. @returns how many it doomed. */
  async pass(signal: AbortSignal): Promise<number> {
    const now = performance.now();
    const again = [...this.silent.values()].filter(({ askAt }) => askAt <= now).map(({ slot }) => slot);
    const due = await takeDueChecks(this.context.db, this.poolId, CHECK_SECONDS, LOOKS_A_PASS);
    const asked = [...again, ...due.filter((slot) => !this.silent.has(slot.slotId))];
    const pauseMs = asked.length < SPREAD_FROM ? 0 : (SPREAD_MS * LOOKS_AT_ONCE) / asked.length;
    const health = await inParallel(asked, LOOKS_AT_ONCE, async (slot) => {
      if (pauseMs > 0) await wait(Math.random() * 2 * pauseMs);
      return slot.address === null ? 'silent' : sandboxHealth(slot, slot.address, signal);
    });
    if (signal.aborted) return 0;
    const silent = health.filter((answer) => answer === 'silent').length;
    const doubtful = silent >= DOUBTFUL && silent * 2 > asked.length;
    if (doubtful)
      this.context.logger.warn(
        { pool_id: this.poolId, silent, asked: asked.length },
        'most warm sandboxes do not answer, none removed',
      );
    let doomed = 0;
    for (const [index, slot] of asked.entries())
      doomed += (await this.judge(slot, health[index] ?? 'silent', doubtful)) ? 1 : 0;
    return doomed;
  }

  private async judge(
    slot: Slot,
    health: Awaited<ReturnType<typeof sandboxHealth>>,
    doubtful: boolean,
  ): Promise<boolean> {
    const before = this.silent.has(slot.slotId);
    if (health === 'silent' && (doubtful || !before)) {
      this.silent.set(slot.slotId, { slot, askAt: performance.now() + this.secondAskMs });
      return false;
    }
    this.silent.delete(slot.slotId);
    if (health === 'dormant') return false;
    const reason = { silent: 'it does not answer', unwell: 'its tools do not work', 'not-ours': 'it is not blank' }[
      health
    ];
    return doomSlot(this.context.db, slot.slotId, reason, ['ready']);
  }
}

import { creationBackoffMs, mayRefill } from '@slipway/domain';
import type { SandboxProblem } from '@slipway/sandbox';
import { type PoolCounts, type Slot, savePoolProblem, slotsIn } from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';
import type { Seats } from './seats.js';
import { beginCreation, planPool, provisionSlot } from './slot-provisioning.js';
import { removeSlot } from './slot-removal.js';

/**
 * Sandboxes of one pool that wait at the same time for something outside of them: enough to trigger an autoscaler of
 * the cluster, and no more.
 */
const HELD_AT_LEAST = 5;
const HELD_SHARE = 0.1;
/** Check interval of a held sandbox. Milliseconds. */
const HELD_LOOK_MS = 1_000;
/**
 * Longest pause before the next try while the backend does not answer: when it is back, the claimed slots are replaced
 * at once. Milliseconds.
 */
const AWAY_MOST_MS = 3_000;
/**
 * Removals of one pool at the same time. Those of used sandboxes may take minutes, because their workspaces are stored:
 * they must not be in the way of the others.
 */
const REMOVALS_AT_ONCE = { doomed: 50, releasing: 200 } as const;
/** Shortest time between two notes of one pool's problem. Milliseconds. */
const PROBLEM_NOTE_MS = 1_000;

/** Runs a task beside the loop, once at a time for each name, and starts a pass over the pools when it is over. */
export type Apart = (name: string, task: () => Promise<unknown>) => void;

interface Hold {
  readonly problem: SandboxProblem;
  readonly lookAt: number;
}

/**
 * Keeps one pool at its target: makes what is missing, removes what is over. What it remembers only decides when, never
 * whether.
 */
export class PoolKeeper {
  private readonly busy = new Set<string>();
  private readonly removing = { doomed: 0, releasing: 0 };
  private readonly readyListeners = new Set<() => void>();
  /** Slots that wait for something outside of them, in the order in which they came to it. */
  private readonly held = new Map<string, Hold>();
  private starting = 0;
  private failures = 0;
  private notBefore = 0;
  private lastFailure: SandboxProblem | null = null;
  private noted: { readonly problem: SandboxProblem | null; readonly at: number } | null = null;
  /** Result of the last pass, less what was taken since by this replica. */
  private ready = 0;
  private target = 0;
  private takenAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly context: PoolContext,
    readonly pool: PoolSpec,
    private readonly seats: Seats,
    private readonly apart: Apart,
    private readonly onReady: () => void,
  ) {}

  /**
   * This replica's claims are not disturbed by refilling while warm slots last. @returns whether a pass over the pool
   * is due.
   */
  taken(): boolean {
    this.takenAt = performance.now();
    this.ready -= 1;
    return mayRefill(this.target, this.ready, 0);
  }

  /**
   * Answers when a slot may have become ready: at once when this replica makes it so, after `timeoutMs` at the latest.
   */
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

  /** What is in the way of this pool, as this replica has seen it. */
  get problem(): SandboxProblem | null {
    for (const { problem } of this.held.values()) return problem;
    return this.lastFailure;
  }

  get heldCount(): number {
    return this.held.size;
  }

  /** Plans what is missing and works on every idle slot. Does not wait for the work. */
  async fill(counts: PoolCounts, signal: AbortSignal): Promise<void> {
    const { pace } = this.context;
    this.ready = counts.ready;
    this.target = counts.target;
    const refill = pace.refillsBesideClaims || mayRefill(counts.target, this.ready, performance.now() - this.takenAt);
    const planned =
      refill && performance.now() >= this.notBefore ? await planPool(this.context, this.pool, counts, this.room()) : 0;
    // Nothing is made that could come up and say so; the alert would stand until the next claim.
    if (counts.beginning + planned === 0 && counts.ready >= counts.target) this.lastFailure = null;
    await this.noteProblem();
    if (counts.doomed > 0) await this.removeSome('doomed', signal);
    if (counts.releasing > 0) await this.removeSome('releasing', signal);
    if (counts.beginning + planned > 0 && refill) await this.startSome(counts.beginning + planned, signal);
    else if (counts.beginning + planned === 0) this.held.clear();
  }

  /** How many more may be begun: with some of them held, only as many as may be held in all. */
  private room(): number {
    if (this.held.size === 0) return this.seats.free;
    const most = Math.max(HELD_AT_LEAST, Math.ceil(this.target * HELD_SHARE));
    return Math.max(0, Math.min(this.seats.free, most - this.held.size - this.starting));
  }

  private async startSome(beginning: number, signal: AbortSignal): Promise<void> {
    const room = this.room();
    const now = performance.now();
    const looks = [...this.held.values()].some((hold) => hold.lookAt <= now);
    if (room === 0 && !looks) return;
    // What is worked on while the rows are read may be done when they arrive: those rows are stale, the next pass reads
    // them.
    const worked = new Set(this.busy);
    const rows = await slotsIn(
      this.context.db,
      this.pool.poolId,
      ['intent', 'provisioning'],
      this.busy.size + this.held.size + Math.min(beginning, room),
    );
    const idle = rows.filter((slot) => !worked.has(slot.slotId));
    const there = new Set(rows.map((slot) => slot.slotId));
    for (const slotId of this.held.keys()) if (!there.has(slotId)) this.held.delete(slotId);
    const due = idle.filter((slot) => (this.held.get(slot.slotId)?.lookAt ?? Number.POSITIVE_INFINITY) <= now);
    const fresh = now < this.notBefore ? [] : idle.filter((slot) => !this.held.has(slot.slotId)).slice(0, room);
    for (const slot of await beginCreation(this.context, [...due, ...fresh]))
      this.work('starting', slot, () => this.startSlot(slot, signal));
  }

  private async removeSome(state: 'doomed' | 'releasing', signal: AbortSignal): Promise<void> {
    const room = REMOVALS_AT_ONCE[state] - this.removing[state];
    if (room <= 0) return;
    const worked = new Set(this.busy);
    const rows = await slotsIn(this.context.db, this.pool.poolId, [state], worked.size + room);
    for (const slot of rows.filter((row) => !worked.has(row.slotId)).slice(0, room)) {
      this.work('removing', slot, async () => {
        this.removing[state] += 1;
        await removeSlot(this.context, slot, signal).finally(() => {
          this.removing[state] -= 1;
        });
      });
    }
  }

  private work(what: 'removing' | 'starting', slot: Slot, task: () => Promise<unknown>): void {
    if (this.busy.has(slot.slotId)) return;
    this.busy.add(slot.slotId);
    this.apart(`${what} ${slot.slotId}`, () => task().finally(() => this.busy.delete(slot.slotId)));
  }

  private async startSlot(slot: Slot, signal: AbortSignal): Promise<void> {
    const waited = this.held.has(slot.slotId);
    // A check of a held one takes no seat: it only reads.
    if (!waited) this.seats.take();
    this.starting += 1;
    try {
      const outcome = await provisionSlot(this.context, this.pool, slot, signal);
      if (outcome.result !== 'held') this.held.delete(slot.slotId);
      if (outcome.result === 'ready') {
        this.failures = 0;
        this.notBefore = 0;
        this.lastFailure = null;
        this.onReady();
        for (const listener of [...this.readyListeners]) listener();
      }
      if (outcome.result === 'failed') {
        this.lastFailure = outcome.problem;
        this.backOff();
      }
      if (outcome.result === 'held') {
        if (!outcome.created)
          this.backOff(
            outcome.problem.code === 'sandbox.cluster-unavailable' ? AWAY_MOST_MS : Number.POSITIVE_INFINITY,
          );
        const lookAt = Math.max(performance.now() + HELD_LOOK_MS, outcome.created ? 0 : this.notBefore);
        this.held.set(slot.slotId, { problem: outcome.problem, lookAt });
      }
    } finally {
      this.starting -= 1;
      if (!waited) this.seats.give();
    }
  }

  /** Those that fail together are one failure. */
  private backOff(mostMs = Number.POSITIVE_INFINITY): void {
    const now = performance.now();
    if (now < this.notBefore) return;
    this.failures += 1;
    this.notBefore = now + Math.min(mostMs, creationBackoffMs(this.failures));
  }

  private async noteProblem(): Promise<void> {
    const { problem } = this;
    const before = this.noted;
    if (before !== null && before.problem?.code === problem?.code && before.problem?.detail === problem?.detail) return;
    if (before !== null && performance.now() - before.at < PROBLEM_NOTE_MS) return;
    await savePoolProblem(this.context.db, this.pool.poolId, problem);
    this.noted = { problem, at: performance.now() };
    if (before?.problem?.code === problem?.code) return;
    const about = { pool_id: this.pool.poolId, code: problem?.code, held: this.held.size };
    if (problem !== null) this.context.logger.warn(about, `sandboxes fail to start: ${problem.detail}`);
    else if (before !== null) this.context.logger.info(about, 'sandboxes start again');
  }
}

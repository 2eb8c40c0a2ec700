import type { SqlPool } from '@slipway/db/sql';
import { type LeasedSlot, leaseChunk, returnLeases } from './lease.queries.js';

/** Slots held of one pool: at the rate of late this lasts for half a second. */
const HOLD_SECONDS = 0.5;
const LEAST_HELD = 2;
const MOST_HELD = 32;
/** Over how long the rate is measured. Seconds. */
const RATE_SECONDS = 1;
/**
 * A lease with less than this share of its time left is not offered: the database would refuse it, this only saves a
 * query.
 */
const MARGIN = 1 / 15;
/** After a chunk that was empty the next one is asked for at the earliest so much later. Milliseconds. */
const EMPTY_PAUSE_MS = 250;

export interface HeldSlot extends LeasedSlot {
  /** By this process' monotonic clock. Milliseconds. */
  until: number;
}

export interface LeasedSlotsOptions {
  readonly poolId: string;
  readonly replicaId: string;
  readonly leaseSeconds: number;
  readonly onError: (error: unknown) => void;
}

/**
 * The ready slots of one pool that this replica leases, so that a claim need not search one. Its memory is a hint: the
 * bind checks the row.
 */
export class LeasedSlots {
  /** The last one goes first: the most recently warmed. */
  private held: HeldSlot[] = [];
  private refilling: Promise<void> | null = null;
  private notBefore = 0;
  private level = 0;
  private levelAt = 0;

  constructor(
    private readonly db: SqlPool,
    private readonly options: LeasedSlotsOptions,
  ) {}

  get slots(): readonly LeasedSlot[] {
    return this.held;
  }

  /** Takes one, in microseconds; `null` when none is held. More are fetched beside it when few are left. */
  pop(): HeldSlot | null {
    const now = performance.now();
    this.level = this.level * Math.exp((this.levelAt - now) / (RATE_SECONDS * 1_000)) + 1;
    this.levelAt = now;
    let found: HeldSlot | null = null;
    for (let last = this.held.pop(); last !== undefined; last = this.held.pop()) {
      if (last.until - this.options.leaseSeconds * 1_000 * MARGIN < now) continue;
      found = last;
      break;
    }
    if (this.held.length * 2 <= this.size(now)) void this.refill();
    return found;
  }

  /** One that was taken and not used. */
  put(slot: HeldSlot): void {
    this.held.push(slot);
  }

  /** Leases what is missing. One at a time. */
  refill(): Promise<void> {
    if (performance.now() < this.notBefore) return Promise.resolve();
    this.refilling ??= this.lease()
      .catch(this.options.onError)
      .finally(() => {
        this.refilling = null;
      });
    return this.refilling;
  }

  /** No lease is on its way. */
  async settled(): Promise<void> {
    await this.refilling;
  }

  /** Those of `kept` are leased for another while; the others end when they end. */
  renewed(kept: ReadonlySet<string>, askedAt: number): void {
    for (const held of this.held) if (kept.has(held.slotId)) held.until = askedAt + this.options.leaseSeconds * 1_000;
    this.held = this.held.filter((held) => held.until > askedAt);
  }

  /** What is held beyond the recent rate needs; they are released. */
  takeSurplus(): LeasedSlot[] {
    return this.held.splice(0, Math.max(0, this.held.length - this.size(performance.now())));
  }

  /** Gives all of them back: others wait for them, or this replica ends. */
  async returnAll(): Promise<void> {
    await this.refilling;
    const slots = this.held.splice(0);
    if (slots.length > 0) await returnLeases(this.db, this.options.replicaId, slots);
  }

  private size(now: number): number {
    const rate = (this.level * Math.exp((this.levelAt - now) / (RATE_SECONDS * 1_000))) / RATE_SECONDS;
    return Math.min(MOST_HELD, Math.max(LEAST_HELD, Math.ceil(rate * HOLD_SECONDS)));
  }

  private async lease(): Promise<void> {
    const { poolId, replicaId, leaseSeconds } = this.options;
    const asked = performance.now();
    const missing = this.size(asked) - this.held.length;
    if (missing <= 0) return;
    const slots = await leaseChunk(this.db, poolId, {
      replicaId,
      count: missing,
      held: this.held.length,
      seconds: leaseSeconds,
    });
    if (slots.length === 0) this.notBefore = performance.now() + EMPTY_PAUSE_MS;
    const until = asked + leaseSeconds * 1_000;
    // Below those that are held: they were warmed before.
    this.held.unshift(...slots.reverse().map((slot) => ({ ...slot, until })));
  }
}

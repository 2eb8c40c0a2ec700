/**
 * The database of the model: rows, transactions that run whole or not at all, and what is left of them when it crashes
 * or a standby that lags takes over. Each method is one transaction of the real one; `waited` ones have reached the
 * disk when they answer, the others may be lost by a crash.
 */
import type { Broken } from './pool-model-variants.js';

export type ModelSlotState = 'intent' | 'provisioning' | 'ready' | 'bound' | 'active' | 'releasing' | 'doomed';

export interface ModelSlot {
  readonly id: number;
  readonly state: ModelSlotState;
  readonly epoch: number;
  /** Incarnation of a replica. A lease is these two columns of a ready slot, no state of its own. */
  readonly holder: number | null;
  readonly leaseUntil: number;
  readonly claim: number | null;
  readonly uid: number | null;
  readonly node: number | null;
}

export interface ModelClaim {
  readonly id: number;
  readonly org: number;
  /** Organization and idempotency key. */
  readonly session: string;
  readonly body: number;
  readonly slot: number;
  readonly epoch: number;
  readonly state: 'bound' | 'active' | 'released' | 'lost';
  readonly deadline: number;
}

export interface BindItem {
  readonly request: number;
  readonly claim: number;
  readonly org: number;
  readonly session: string;
  readonly body: number;
  /** 0: it has none, and only asks whether it needs one. */
  readonly slot: number;
  readonly epoch: number;
}

export interface BindResult {
  readonly item: BindItem;
  readonly outcome: 'bound' | 'replay' | 'mismatch' | 'quota' | 'empty' | 'slot-lost';
  /** Of `bound` and `replay`. */
  readonly claim: ModelClaim | null;
  readonly uid: number | null;
}

export interface OutboxRow {
  readonly slot: number;
  readonly uid: number;
  readonly claim: number;
}

class Tables {
  constructor(
    readonly slots = new Map<number, ModelSlot>(),
    readonly claims = new Map<number, ModelClaim>(),
    /** Last claim of each session. */
    readonly sessions = new Map<string, number>(),
    readonly usage: number[] = [0, 0],
    readonly outbox = new Map<number, OutboxRow>(),
    /** Nodes that were seen cordoned. */
    readonly avoided = new Set<number>(),
  ) {}

  copy(): Tables {
    return new Tables(
      new Map(this.slots),
      new Map(this.claims),
      new Map(this.sessions),
      [...this.usage],
      new Map(this.outbox),
      new Set(this.avoided),
    );
  }
}

export const TARGET = 4;
export const CAP = 2;
export const LEASE = 6;
export const DEADLINE = 10;
const UNCLAIMED: ReadonlySet<ModelSlotState> = new Set(['intent', 'provisioning', 'ready', 'doomed']);

export const isLive = (claim: ModelClaim | undefined): claim is ModelClaim =>
  claim?.state === 'bound' || claim?.state === 'active';

export class ModelDatabase {
  now = 0;
  rows = new Tables();
  /** What a crash leaves. */
  private disk = this.rows.copy();
  /** What a standby has that replicates without being waited for. */
  private standby = this.rows.copy();
  private readonly committed = new Set<number>();
  private ids = 0;
  /** For the observer: each binding as it is made, before anything else happens. */
  onBind: (slot: ModelSlot, item: BindItem, by: number) => void = () => {};

  constructor(private readonly broken: Broken) {}

  /** Fresh for ever, as ULIDs are: a lost suffix does not bring one back. */
  newId(): number {
    this.ids += 1;
    return this.ids;
  }

  crash(): void {
    this.rows = this.disk.copy();
  }

  replicate(): void {
    this.standby = this.disk.copy();
  }

  failOver(): void {
    this.rows = this.standby.copy();
    this.disk = this.standby.copy();
  }

  /** Was its bind ever on the disk? Rows of what is over are forgotten. */
  wasCommitted(claim: number): boolean {
    return this.committed.has(claim);
  }

  private waited(): void {
    for (const claim of this.rows.claims.keys()) this.committed.add(claim);
    this.disk = this.rows.copy();
  }

  private put(slot: ModelSlot, change: Partial<ModelSlot>): void {
    this.rows.slots.set(slot.id, { ...slot, ...change });
  }

  population(): number {
    let count = 0;
    for (const slot of this.rows.slots.values()) if (UNCLAIMED.has(slot.state)) count += 1;
    return count;
  }

  /**
   * @param counted what the caller believes the population to be; asked only by a broken variant. @returns whether
   * anything was missing.
   */
  plan(counted: number): boolean {
    const missing = TARGET - (this.broken === 'population-from-cache' ? counted : this.population());
    for (let made = 0; made < missing; made += 1) {
      const id = this.newId();
      this.rows.slots.set(id, {
        id,
        state: 'intent',
        epoch: 0,
        holder: null,
        leaseUntil: 0,
        claim: null,
        uid: null,
        node: null,
      });
    }
    if (missing > 0) this.waited();
    return missing > 0;
  }

  begin(id: number): void {
    const slot = this.rows.slots.get(id);
    if (slot?.state === 'intent') this.put(slot, { state: 'provisioning' });
  }

  saveUid(id: number, uid: number, node: number): void {
    const slot = this.rows.slots.get(id);
    if (slot !== undefined && slot.uid === null && (slot.state === 'provisioning' || slot.state === 'doomed'))
      this.put(slot, { uid, node });
  }

  ready(id: number, uid: number): void {
    const slot = this.rows.slots.get(id);
    if (slot?.state !== 'provisioning' || slot.uid !== uid) return;
    if (this.rows.avoided.has(slot.node ?? -1)) this.doom(id);
    else this.put(slot, { state: 'ready' });
  }

  /**
   * Waited for always: a sandbox is removed next, and a crash must not bring its slot back. Intents, and sandboxes that
   * are made, warm or leased. Never one that is bound.
   */
  doom(id: number): void {
    const slot = this.rows.slots.get(id);
    if (slot === undefined || !(slot.state === 'intent' || slot.state === 'provisioning' || slot.state === 'ready'))
      return;
    this.put(slot, { state: 'doomed', epoch: slot.epoch + 1 });
    this.waited();
  }

  avoid(node: number): void {
    this.rows.avoided.add(node);
    for (const slot of this.rows.slots.values()) {
      if (slot.state !== 'ready' || slot.node !== node) continue;
      if (this.broken === 'cordon-leaves-leased' && slot.holder !== null && slot.leaseUntil > this.now) continue;
      this.put(slot, { state: 'doomed', epoch: slot.epoch + 1 });
    }
    this.waited();
  }

  gone(id: number): void {
    const slot = this.rows.slots.get(id);
    if (slot === undefined || !(slot.state === 'doomed' || slot.state === 'releasing')) return;
    this.rows.slots.delete(id);
    const claim = this.rows.claims.get(slot.claim ?? -1);
    if (claim !== undefined && this.rows.sessions.get(claim.session) !== claim.id) this.rows.claims.delete(claim.id);
  }

  /**
   * Unleased slots. When there is none and `isNeeded`, one of the largest lessee: a replica whose clients are quiet
   * must not keep the last slots from the others. The new epoch is the fence: the former holder's bind fails, and it
   * takes another.
   */
  lease(holder: number, most: number, isNeeded: boolean): ModelSlot[] {
    const leased: ModelSlot[] = [];
    const held = new Map<number, ModelSlot[]>();
    for (const slot of this.rows.slots.values()) {
      if (slot.state !== 'ready') continue;
      if (slot.holder !== null && slot.leaseUntil > this.now) {
        if (slot.holder !== holder) held.set(slot.holder, [...(held.get(slot.holder) ?? []), slot]);
      } else if (leased.length < most) leased.push(slot);
    }
    if (leased.length === 0 && isNeeded && this.broken !== 'hoarded') {
      const [largest = []] = [...held.values()].sort((a, b) => b.length - a.length);
      leased.push(...largest.slice(0, 1));
    }
    for (const slot of leased) this.put(slot, { holder, epoch: slot.epoch + 1, leaseUntil: this.now + LEASE });
    return leased.map((slot) => this.rows.slots.get(slot.id) as ModelSlot);
  }

  /** @returns those that are still the holder's. */
  renew(holder: number, held: readonly (readonly [id: number, epoch: number])[]): Set<number> {
    const kept = new Set<number>();
    for (const [id, epoch] of held) {
      const slot = this.rows.slots.get(id);
      if (slot?.state !== 'ready' || slot.holder !== holder || slot.epoch !== epoch || slot.leaseUntil <= this.now)
        continue;
      this.put(slot, { leaseUntil: this.now + LEASE });
      kept.add(id);
    }
    return kept;
  }

  /** One commit for all items; each is decided by itself, in the order of their slots. */
  bindBatch(holder: number, items: readonly BindItem[]): BindResult[] {
    const atStart = [...this.rows.usage];
    const sessionsAtStart = this.broken === 'batch-sees-no-twin' ? new Map(this.rows.sessions) : this.rows.sessions;
    const results = [...items]
      .sort((a, b) => a.slot - b.slot)
      .map((item) => this.bind(holder, item, atStart, sessionsAtStart));
    if (this.broken !== 'answer-before-commit') this.waited();
    return results;
  }

  private bind(
    holder: number,
    item: BindItem,
    usageAtStart: readonly number[],
    sessions: ReadonlyMap<string, number>,
  ): BindResult {
    const { rows, broken } = this;
    const before = rows.claims.get(sessions.get(item.session) ?? -1);
    if (isLive(before)) {
      if (before.body !== item.body && broken !== 'body-not-compared')
        return { item, outcome: 'mismatch', claim: null, uid: null };
      return { item, outcome: 'replay', claim: before, uid: rows.slots.get(before.slot)?.uid ?? null };
    }
    const inUse = (broken === 'quota-counted-once' ? usageAtStart : rows.usage)[item.org] ?? 0;
    if (inUse >= CAP) return { item, outcome: 'quota', claim: null, uid: null };
    if (item.slot === 0) return { item, outcome: 'empty', claim: null, uid: null };
    const slot = rows.slots.get(item.slot);
    const isMine =
      (slot?.state === 'ready' || (broken === 'bind-ignores-state' && slot?.state === 'bound')) &&
      (slot.holder === holder || broken === 'no-holder-in-bind') &&
      (slot.epoch === item.epoch || broken === 'no-epoch-in-bind') &&
      (slot.leaseUntil > this.now || broken === 'no-lease-time-in-bind');
    if (slot === undefined || !isMine || slot.uid === null)
      return { item, outcome: 'slot-lost', claim: null, uid: null };
    this.onBind(slot, item, holder);
    const claim: ModelClaim = {
      id: item.claim,
      org: item.org,
      session: item.session,
      body: item.body,
      slot: slot.id,
      epoch: slot.epoch,
      state: 'bound',
      deadline: this.now + DEADLINE,
    };
    this.put(slot, { state: 'bound', claim: claim.id });
    rows.claims.set(claim.id, claim);
    rows.sessions.set(claim.session, claim.id);
    rows.usage[item.org] = (rows.usage[item.org] ?? 0) + 1;
    rows.outbox.set(this.newId(), { slot: slot.id, uid: slot.uid, claim: claim.id });
    return { item, outcome: 'bound', claim, uid: slot.uid };
  }

  /** @returns false when the claim has ended: its sandbox is not to be used. */
  activate(id: number, epoch: number): boolean {
    const claim = this.rows.claims.get(id);
    if (!isLive(claim) || claim.epoch !== epoch) return false;
    if (claim.state === 'active') return true;
    const slot = this.rows.slots.get(claim.slot);
    this.rows.claims.set(id, { ...claim, state: 'active' });
    if (slot !== undefined) this.put(slot, { state: 'active' });
    return true;
  }

  release(id: number, only: 'bound' | 'bound-or-active', end: 'released' | 'lost'): void {
    const claim = this.rows.claims.get(id);
    if (!isLive(claim) || (only === 'bound' && claim.state !== 'bound')) return;
    const slot = this.rows.slots.get(claim.slot);
    this.rows.claims.set(id, { ...claim, state: end });
    this.rows.usage[claim.org] = (this.rows.usage[claim.org] ?? 0) - 1;
    if (slot !== undefined) {
      const rePooled = this.broken === 're-pooled' && end === 'released';
      this.put(
        slot,
        rePooled
          ? { state: 'ready', claim: null, holder: null, epoch: slot.epoch + 1 }
          : { state: 'releasing', epoch: slot.epoch + 1 },
      );
    }
    this.waited();
  }
}

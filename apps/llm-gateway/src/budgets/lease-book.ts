import { randomUUID } from 'node:crypto';
import type { KeyBudget, StoredKey } from '../keys/keys.queries.js';
import { Lease } from './lease.js';

/** What was reserved for a call. */
export interface Reservation {
  readonly ticks: number;
  readonly holder: string | null;
  readonly leases: readonly Lease[];
}
export const UNLIMITED: Reservation = { ticks: -1, holder: null, leases: [] };

/** The leases of all budgets that limit a key. */
export interface Chain {
  readonly life: string;
  readonly leases: readonly Lease[];
  /** When the first of the cycles ends. Milliseconds since 1970. */
  readonly until: number;
}

/** A lease unused for this long is returned, and after ten times that it is forgotten. Milliseconds. */
const IDLE_MS = 60_000;

/** All that one instance of this process holds. Calls `work` when there is something to send to Postgres. */
export class LeaseBook {
  life: string = randomUUID();
  /** What comes free, or was recalled: for the next turn. */
  readonly due = new Set<Lease>();
  readonly refills = new Set<Lease>();
  private leases = new Map<number, Lease>();
  private chains = new WeakMap<StoredKey, Chain>();

  constructor(private readonly work: () => void) {}

  leaseOf(account: number, orgId: string): Lease {
    let lease = this.leases.get(account);
    if (lease === undefined) {
      lease = new Lease(account, orgId);
      this.leases.set(account, lease);
    }
    return lease;
  }

  chainOf(key: StoredKey): Chain {
    const known = this.chains.get(key);
    return known !== undefined && known.life === this.life ? known : this.link(key, key.budgets ?? []);
  }

  /** From now on these limit the key. */
  link(key: StoredKey, budgets: readonly KeyBudget[]): Chain {
    const chain = {
      life: this.life,
      leases: budgets.map(({ account }) => this.leaseOf(account, key.orgId)),
      until: Math.min(...budgets.map(({ until }) => until)),
    };
    this.chains.set(key, chain);
    return chain;
  }

  /**
   * `null`: one of them has too little, and Postgres must be asked. @param now milliseconds of a clock that only goes
   * on.
   */
  reserve(leases: readonly Lease[], want: number, now: number): Reservation | null {
    for (const lease of leases) if (!lease.loose || lease.free < want) return null;
    for (const lease of leases) {
      lease.free -= want;
      lease.usedAt = now;
      if (lease.free < lease.target / 2 && lease.askRefill(want, now)) {
        this.refills.add(lease);
        this.work();
      }
    }
    return { ticks: want, holder: this.life, leases };
  }

  /** What was reserved and not spent may be spent by others. After a lapse it is others' already. */
  release({ leases, ticks, holder }: Reservation, cost: number): void {
    if (holder !== this.life) return;
    for (const lease of leases) {
      lease.free += ticks - cost;
      if (lease.loose) continue;
      this.due.add(lease);
      this.work();
    }
  }

  recalled(account: number, round: number): void {
    const lease = this.leases.get(account);
    // Its own it need not answer. What it does not know it does not hold.
    if (lease === undefined || round <= lease.answered || round === lease.ownRound) return;
    lease.recall = Math.max(lease.recall, round);
    this.tighten(lease);
    this.work();
  }

  /** Returns all that is free: the other replicas are unreachable, or (of one organization) a limit has changed. */
  tightenAll(orgId?: string): void {
    for (const lease of this.leases.values()) if (orgId === undefined || lease.orgId === orgId) this.tighten(lease);
    this.work();
  }

  /** Returns and forgets unused leases. */
  sweep(now: number): void {
    for (const [account, lease] of this.leases) {
      if (now - lease.usedAt < IDLE_MS) continue;
      if (lease.loose) this.tighten(lease);
      else if (now - lease.usedAt > 10 * IDLE_MS && !lease.due && !this.due.has(lease)) this.leases.delete(account);
    }
    this.work();
  }

  /** What was held belongs to others by now: calls under way settle in the ledger alone. */
  lapse(): void {
    this.life = randomUUID();
    this.leases = new Map();
    this.due.clear();
    this.refills.clear();
    this.chains = new WeakMap();
  }

  private tighten(lease: Lease): void {
    if (lease.loose) lease.returns = true;
    lease.loose = false;
    this.due.add(lease);
  }
}

/** Most streams, sockets and subscriptions that are open at once in one process. */
export interface SeatLimits {
  readonly perUser: number;
  readonly perOrg: number;
}

/** Whose limit is reached. */
export type NoSeat = 'user' | 'org';

/** Counts what is open by user and by organization. No queue: a refused client comes back by itself. */
export class OpenSeats {
  private readonly users = new Map<string, number>();
  private readonly orgs = new Map<string, number>();
  private seats = 0;

  constructor(private readonly limits: SeatLimits) {}

  get open(): number {
    return this.seats;
  }

  /** Most that one user, and one organization, has open now: how near anybody is to a limit. */
  get fullest(): Readonly<Record<NoSeat, number>> {
    return { user: largest(this.users), org: largest(this.orgs) };
  }

  /**
   * @param of whom it counts for: either, or both. @returns what gives the seat back, once; or whose limit is reached.
   */
  take(of: { readonly user?: string | undefined; readonly org?: string | undefined }): (() => void) | NoSeat {
    if (of.user !== undefined && (this.users.get(of.user) ?? 0) >= this.limits.perUser) return 'user';
    if (of.org !== undefined && (this.orgs.get(of.org) ?? 0) >= this.limits.perOrg) return 'org';
    if (of.user !== undefined) add(this.users, of.user, 1);
    if (of.org !== undefined) add(this.orgs, of.org, 1);
    this.seats += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.seats -= 1;
      if (of.user !== undefined) add(this.users, of.user, -1);
      if (of.org !== undefined) add(this.orgs, of.org, -1);
    };
  }
}

function largest(counts: ReadonlyMap<string, number>): number {
  let most = 0;
  for (const count of counts.values()) most = Math.max(most, count);
  return most;
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

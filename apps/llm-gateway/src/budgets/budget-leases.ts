import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { StoredKey } from '../keys/keys.queries.js';
import { addReplica, beatReplica, endReplica, reapReplicas } from './authority.queries.js';
import { AuthorityTurns } from './authority-turns.js';
import { GatewayLine } from './gateway-line.js';
import { LeaseBook, type Reservation, UNLIMITED } from './lease-book.js';

export interface BudgetLeasesOptions {
  readonly pool: SqlPool;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls while Postgres is away and what is held is used up: refused, or let in and only counted. */
  readonly whenAway: 'closed' | 'open';
  /**
   * How long what this process holds stays held when nothing is heard of it. Twice the longest call, or more. Seconds.
   */
  readonly holdSeconds: number;
  /** Longest wait for calls under way when they hold all that is left of a budget. Milliseconds. */
  readonly reservedWaitMs: number;
  /** What limits the keys of an organization has changed. */
  readonly limitsChanged: (orgId: string) => void;
  /** Whose calls a key makes has changed. */
  readonly keyChanged: (keyId: string) => void;
  /** This instance holds budgets from now on. Rejecting is as if Postgres were away. */
  readonly began?: (replica: string) => Promise<void>;
}

const BEAT_MS = 2_000;
const REAP_EVERY = 15;

/**
 * Money that this process may spend of budgets without asking Postgres, which gives it out: far from a limit a call is
 * admitted from memory alone, near one by a query.
 *
 * What an instance of this process holds covers what is free here, what its calls have reserved, and what they have
 * spent that is not in the ledger yet; a row of the ledger moves its cost from held to spent in its own commit. An
 * instance without a heartbeat for `holdSeconds` has lapsed; half that time after its last heartbeat it admits nothing
 * more by itself, so that calls that end within the other half are still covered. Longer ones settle all the same, by
 * the ledger, and may then overrun.
 */
export class BudgetLeases {
  private readonly book: LeaseBook;
  private readonly turns: AuthorityTurns;
  private readonly line: GatewayLine;
  private registered: Promise<void> | null = null;
  private beatAt = performance.now();
  private beats = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: BudgetLeasesOptions) {
    const book = new LeaseBook(() => this.turns.schedule());
    this.book = book;
    this.turns = new AuthorityTurns({ ...options, book, register: () => this.register(), lapsed: () => this.lapse() });
    this.line = new GatewayLine(
      options.pool,
      {
        recalled: (account, round) => book.recalled(account, round),
        freed: (account) => this.turns.freed(account),
        limitsChanged: (orgId) => {
          book.tightenAll(orgId);
          options.limitsChanged(orgId);
        },
        keyChanged: (keyId) => options.keyChanged(keyId),
        listening: (on) => {
          this.turns.listening = on;
          if (!on) book.tightenAll();
        },
      },
      options.logger,
    );
  }

  /** Instance id of the process that holds all this. */
  get replica(): string {
    return this.book.life;
  }

  /** Begins to listen and to beat. A database that is away is no error. */
  async start(): Promise<void> {
    await Promise.all([this.line.open(), this.beat()]);
    const next = (): void => {
      this.timer = setTimeout(() => void this.beat().finally(() => (this.closed ? undefined : next())), BEAT_MS);
    };
    next();
  }

  /** Gives up all that is held. The ledger must have been stored by then. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.line.close();
    await this.turns.close();
    if (this.registered === null) return;
    await endReplica(this.options.pool, this.book.life).catch((error: unknown) =>
      this.options.logger.warn({ err: error }, 'failed to release the budgets of this replica, they lapse later'),
    );
  }

  /**
   * At once, or a promise near a limit. @param want ticks. @param least the least ticks that are of use. @throws
   * (rejects) as `Admitter.admit`.
   */
  reserve(key: StoredKey, want: number, least: number, signal: AbortSignal): Reservation | Promise<Reservation> {
    if (key.budgets === undefined || key.budgets.length === 0 || want === 0) return UNLIMITED;
    const { leases, until } = this.book.chainOf(key);
    if (until <= this.options.clock.now().getTime()) return this.turns.ask(key, null, { want, least }, signal);
    const now = performance.now();
    const reservation =
      now - this.beatAt < this.options.holdSeconds * 500 ? this.book.reserve(leases, want, now) : null;
    return (
      reservation ??
      this.turns.ask(
        key,
        leases.map(({ account }) => account),
        { want, least },
        signal,
      )
    );
  }

  release(reservation: Reservation, cost: number): void {
    this.book.release(reservation, cost);
  }

  private register(): Promise<void> {
    this.registered ??= this.begin().catch((error: unknown) => {
      this.registered = null;
      throw error;
    });
    return this.registered;
  }

  private async begin(): Promise<void> {
    const at = performance.now();
    await this.options.began?.(this.book.life);
    await addReplica(this.options.pool, this.book.life);
    this.beatAt = at;
  }

  private lapse(): void {
    this.options.logger.error({ replica: this.book.life }, 'budgets of this replica lapsed: no heartbeat for too long');
    this.book.lapse();
    this.registered = null;
  }

  private async beat(): Promise<void> {
    const at = performance.now();
    try {
      if (this.registered === null) await this.register();
      else if (await beatReplica(this.options.pool, this.book.life)) this.beatAt = at;
      else this.lapse();
      this.beats += 1;
      if (this.beats % REAP_EVERY !== 1) return;
      this.book.sweep(at);
      await reapReplicas(this.options.pool, this.options.holdSeconds);
    } catch (error) {
      if (!this.closed) this.options.logger.debug({ err: error }, 'heartbeat failed');
    }
  }
}

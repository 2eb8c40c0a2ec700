import { randomUUID } from 'node:crypto';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { type KeyBudget, openBudgets, type StoredKey } from '../keys/keys.queries.js';
import {
  type AskedCall,
  addReplica,
  beatReplica,
  type CallAnswer,
  endReplica,
  NO_ROUND,
  type Refusal,
  type Round,
  reapReplicas,
  type Turn,
  type TurnAnswer,
  takeBudgets,
} from './authority.queries.js';
import { GatewayLine } from './gateway-line.js';
import { Lease } from './lease.js';
import { away, exhausted, reserved } from './refusals.js';

export interface BudgetLeasesOptions {
  readonly pool: SqlPool;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls while Postgres is away and what is held is used up: refused, or let in and only counted. */
  readonly whenAway: 'closed' | 'open';
  /** How long what this process holds stays held when nothing is heard of it. Twice the longest call, or more. Seconds. */
  readonly holdSeconds: number;
  /** Longest wait for calls under way when they hold all that is left of a budget. Milliseconds. */
  readonly reservedWaitMs: number;
  /** What limits the keys of an organization has changed. */
  readonly limitsChanged: (orgId: string) => void;
  /** A new life of this process holds money from now on. */
  readonly began?: (replica: string) => void;
}

/** What was reserved for a call. */
export interface Reservation {
  readonly ticks: number;
  readonly holder: string | null;
  readonly leases: readonly Lease[];
}
const UNLIMITED: Reservation = { ticks: -1, holder: null, leases: [] };

/** A turn that waits for an answer of Postgres longer than this counts as without one, for the calls in it. Milliseconds. */
const ANSWER_MS = 2_500;
/** Longest wait of a round for those who do not answer a recall. Milliseconds. */
const ROUND_MS = 250;
/** Rounds may follow each other for this long. Milliseconds. */
const ROUNDS_MS = 3_000;
const BEAT_MS = 2_000;
const REAP_EVERY = 15;
const MAX_CALLS_OF_TURN = 256;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
/** A chain that is found stale again and again. */
const MAX_STALE = 3;

interface Waiting {
  readonly key: StoredKey;
  accounts: readonly number[];
  readonly want: number;
  readonly least: number;
  readonly since: number;
  round: Round;
  ready: boolean;
  stale: number;
  over: boolean;
  timer: NodeJS.Timeout | undefined;
  resolve(reservation: Reservation): void;
  reject(error: SlipwayError): void;
}

interface Chain {
  readonly life: string;
  readonly leases: readonly Lease[];
  /** When the first of the cycles ends. Milliseconds since 1970. */
  readonly until: number;
}

/**
 * Money that this process may spend of budgets without asking, and its turns with the authority, Postgres, one at a time: each gives back, answers recalls,
 * asks for calls and for refills in one commit, and is repeated until it is answered, which changes nothing the second time.
 */
export class BudgetLeases {
  private life = randomUUID() as string;
  private registered = false;
  private turns = 0;
  private leases = new Map<number, Lease>();
  private readonly due = new Set<Lease>();
  private readonly refills = new Set<Lease>();
  private waiting: Waiting[] = [];
  private chains = new WeakMap<StoredKey, Chain>();
  private readonly line: GatewayLine;
  private listening = false;
  private failing: unknown = null;
  private running: Promise<void> | null = null;
  private scheduled = false;
  private beatAt = performance.now();
  private beats = 0;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: BudgetLeasesOptions) {
    this.line = new GatewayLine(
      options.pool,
      {
        recalled: (account, round) => this.recalled(account, round),
        freed: (account) => this.freed(account),
        limitsChanged: options.limitsChanged,
        listening: (on) => this.heardLine(on),
      },
      options.logger,
    );
  }

  /** Names of the lives of this process that hold something. */
  get replica(): string {
    return this.life;
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
    this.line.close();
    for (const call of this.waiting) this.end(call, away(new Error('the process ends')));
    await this.running;
    if (this.registered)
      await endReplica(this.options.pool, this.life).catch((error: unknown) =>
        this.options.logger.warn({ err: error }, 'what this replica holds stays held for a while'),
      );
  }

  /** At once, or a promise near a limit. @param want ticks. @param least the least ticks that are of use. @throws (and rejects) as `Admitter.admit`. */
  reserve(key: StoredKey, want: number, least: number, signal: AbortSignal): Reservation | Promise<Reservation> {
    const budgets = key.budgets ?? [];
    if (budgets.length === 0 || want === 0) return UNLIMITED;
    const chain = this.chainOf(key, budgets);
    if (chain.until <= this.options.clock.now().getTime()) return this.ask(key, null, want, least, signal);
    const { leases } = chain;
    const now = performance.now();
    const held = now - this.beatAt < this.options.holdSeconds * 500;
    for (const lease of leases) if (!lease.loose || lease.free < want || !held) return this.ask(key, leases, want, least, signal);
    for (const lease of leases) {
      lease.free -= want;
      if (lease.free < lease.target / 2 && lease.askRefill(want, now)) this.refill(lease);
    }
    return { ticks: want, holder: this.life, leases };
  }

  /** What was reserved and not spent may be spent by others. */
  release({ leases, ticks, holder }: Reservation, cost: number): void {
    if (holder !== this.life) return;
    for (const lease of leases) {
      lease.free += ticks - cost;
      if (!lease.loose) {
        this.due.add(lease);
        this.schedule();
      }
    }
  }

  private chainOf(key: StoredKey, budgets: readonly KeyBudget[]): Chain {
    const known = this.chains.get(key);
    if (known !== undefined && known.life === this.life) return known;
    const chain = { life: this.life, leases: budgets.map(({ account }) => this.leaseOf(account)), until: Math.min(...budgets.map(({ until }) => until)) };
    this.chains.set(key, chain);
    return chain;
  }

  private leaseOf(account: number): Lease {
    let lease = this.leases.get(account);
    if (lease === undefined) {
      lease = new Lease(account);
      this.leases.set(account, lease);
    }
    return lease;
  }

  private ask(key: StoredKey, leases: readonly Lease[] | null, want: number, least: number, signal: AbortSignal): Promise<Reservation> {
    if (this.failing !== null || this.closed) return this.withoutAuthority(this.failing);
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const call: Waiting = {
        key,
        accounts: leases?.map(({ account }) => account) ?? [],
        want,
        least: Math.min(least, want),
        since: performance.now(),
        round: NO_ROUND,
        ready: leases !== null,
        stale: 0,
        over: false,
        timer: undefined,
        resolve,
        reject,
      };
      signal.addEventListener('abort', () => this.end(call, reserved(null)), { once: true });
      this.waiting.push(call);
      if (leases === null) void this.reopen(call);
      else this.schedule();
    });
  }

  private withoutAuthority(cause: unknown): Promise<Reservation> {
    return this.options.whenAway === 'open' ? Promise.resolve(UNLIMITED) : Promise.reject(away(cause));
  }

  private end(call: Waiting, outcome: Reservation | SlipwayError): void {
    if (call.over) return;
    call.over = true;
    clearTimeout(call.timer);
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    if ('ticks' in outcome) call.resolve(outcome);
    else call.reject(outcome);
  }

  /** A call's budgets are others by now: the cycle has ended, or a limit was set or taken away. */
  private async reopen(call: Waiting): Promise<void> {
    call.ready = false;
    try {
      const budgets = await openBudgets(this.options.pool, call.key, this.options.clock.now());
      this.chains.set(call.key, {
        life: this.life,
        leases: budgets.map(({ account }) => this.leaseOf(account)),
        until: Math.min(...budgets.map(({ until }) => until)),
      });
      if (budgets.length === 0) return void this.end(call, UNLIMITED);
      call.accounts = budgets.map(({ account }) => account);
      call.ready = true;
      this.schedule();
    } catch (error) {
      void this.withoutAuthority(error).then(
        (reservation) => this.end(call, reservation),
        (refusal: SlipwayError) => this.end(call, refusal),
      );
    }
  }

  private refill(lease: Lease): void {
    this.refills.add(lease);
    this.schedule();
  }

  private recalled(account: number, round: number): void {
    const lease = this.leases.get(account);
    // Its own it need not answer. One that came before is answered all the same: it was asked for when this replica may have had something.
    if (lease === undefined || round <= lease.answered || round === lease.ownRound) return;
    lease.recall = Math.max(lease.recall, round);
    lease.loose = false;
    this.due.add(lease);
    this.schedule();
  }

  private freed(account: number): void {
    for (const call of this.waiting) if (call.round.r > 0 || call.timer !== undefined) if (call.accounts.includes(account)) call.ready = true;
    this.schedule();
  }

  /** Who cannot hear a recall must not hold anything that is not used. */
  private heardLine(on: boolean): void {
    this.listening = on;
    if (on) return;
    for (const lease of this.leases.values()) {
      lease.loose = false;
      this.due.add(lease);
    }
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled || this.running !== null || this.closed) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      if (this.running !== null) return;
      this.running = this.run().finally(() => {
        this.running = null;
        if (this.hasWork()) this.schedule();
      });
    });
  }

  private hasWork(): boolean {
    if (this.refills.size > 0 || this.waiting.some(({ ready }) => ready)) return true;
    for (const lease of this.due) if (lease.due) return true;
    return false;
  }

  private async run(): Promise<void> {
    while (!this.closed && this.hasWork()) {
      const calls = this.waiting.filter(({ ready }) => ready).slice(0, MAX_CALLS_OF_TURN);
      const turn = this.compose(calls);
      const answer = await this.send(turn);
      if (answer === null) return;
      if ('gone' in answer) this.lapse();
      else this.take(turn, calls, answer);
    }
  }

  private compose(calls: readonly Waiting[]): Turn {
    const touched = new Set<Lease>(this.due);
    this.due.clear();
    for (const call of calls) {
      call.ready = false;
      for (const account of call.accounts) touched.add(this.leaseOf(account));
    }
    const now = performance.now();
    const back: Array<{ a: number; n: number; s: number }> = [];
    for (const lease of touched) {
      const answers = lease.recall > lease.answered ? lease.recall : 0;
      if (lease.loose || lease.free !== 0 || answers > 0) back.push({ a: lease.account, n: lease.free, s: answers });
      lease.free = 0;
      lease.loose = false;
      lease.answered = Math.max(lease.answered, answers);
    }
    const refill: Array<{ a: number; n: number }> = [];
    if (this.listening) {
      for (const call of calls)
        for (const account of call.accounts) if (this.leaseOf(account).askRefill(call.want, now)) this.refills.add(this.leaseOf(account));
      for (const lease of this.refills) refill.push({ a: lease.account, n: Math.round(lease.target) });
    } else for (const lease of this.refills) lease.wantsRefill = false;
    this.refills.clear();
    this.turns += 1;
    return {
      number: this.turns,
      at: this.options.clock.now(),
      back,
      calls: calls.map(({ accounts, want, least, round }): AskedCall => ({ ...round, a: accounts, w: want, m: least })),
      refill,
    };
  }

  /** Until it is answered; `null` when the process ends first. While it is not, calls that need the authority do without it. */
  private async send(turn: Turn): Promise<TurnAnswer | null> {
    for (let attempt = 0; !this.closed; attempt += 1) {
      const late = setTimeout(() => this.fail(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
      try {
        if (!this.registered) await this.register();
        const answer = await takeBudgets(this.options.pool, this.life, turn);
        this.failing = null;
        return answer;
      } catch (error) {
        this.fail(error);
      } finally {
        clearTimeout(late);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt)));
    }
    return null;
  }

  private fail(error: unknown): void {
    if (this.failing === null) this.options.logger.warn({ err: error }, 'the budgets cannot be asked: calls go by what this replica holds');
    this.failing = error;
    for (const call of [...this.waiting]) {
      void this.withoutAuthority(error).then(
        (reservation) => this.end(call, reservation),
        (refusal: SlipwayError) => this.end(call, refusal),
      );
    }
  }

  private take(turn: Turn, calls: readonly Waiting[], answer: Extract<TurnAnswer, { calls: unknown }>): void {
    const now = performance.now();
    const asked = new Set(turn.refill.map(({ a }) => a));
    for (const { a, n } of answer.refill) {
      this.leaseOf(a).refilled(n, now);
      asked.delete(a);
    }
    for (const account of asked) this.leaseOf(account).refilled(0, now);
    calls.forEach((call, index) => {
      const each = answer.calls[index];
      if (each !== undefined) this.answer(call, each);
    });
  }

  private answer(call: Waiting, answer: CallAnswer): void {
    const leases = call.accounts.map((account) => this.leaseOf(account));
    if ('g' in answer) {
      const reservation = { ticks: answer.g, holder: this.life, leases };
      // Whoever asked has gone: nothing of it is spent.
      if (call.over) this.release(reservation, 0);
      else this.end(call, reservation);
      return;
    }
    if (call.over) return;
    if ('stale' in answer) {
      call.stale += 1;
      if (call.stale > MAX_STALE) return void this.end(call, away(new Error('the budgets change faster than they can be looked at')));
      return void this.reopen(call);
    }
    const waited = performance.now() - call.since;
    if ('wait' in answer) {
      if (waited > ROUNDS_MS + this.options.reservedWaitMs) return void this.end(call, reserved(null));
      call.round = { r: answer.r, f: answer.f, t: answer.t, c: answer.c, b: answer.a };
      this.leaseOf(answer.a).ownRound = answer.r;
      if (answer.alone !== true) return void this.wakeLater(call);
      call.ready = true;
      return;
    }
    this.refused(call, answer, waited);
  }

  private refused(call: Waiting, refusal: Refusal, waited: number): void {
    if (refusal.spent + call.least > refusal.limit) return void this.end(call, exhausted(call.key, refusal));
    if (waited >= this.options.reservedWaitMs) return void this.end(call, reserved(refusal));
    call.round = NO_ROUND;
    this.wakeLater(call);
  }

  private wakeLater(call: Waiting): void {
    clearTimeout(call.timer);
    call.timer = setTimeout(() => {
      call.timer = undefined;
      // Whoever has not answered by now does not: the next answer is by what is known.
      call.ready = true;
      this.schedule();
    }, ROUND_MS);
  }

  private async register(): Promise<void> {
    this.options.began?.(this.life);
    await addReplica(this.options.pool, this.life);
    this.registered = true;
    this.beatAt = performance.now();
  }

  /** What was held belongs to others by now: calls under way settle in the ledger alone. */
  private lapse(): void {
    this.options.logger.error({ replica: this.life }, 'what this replica held has lapsed: it was not heard of for too long');
    this.life = randomUUID();
    this.registered = false;
    this.leases = new Map();
    this.due.clear();
    this.refills.clear();
    this.chains = new WeakMap();
    for (const call of this.waiting) {
      call.round = NO_ROUND;
      call.ready = true;
    }
  }

  private async beat(): Promise<void> {
    const at = performance.now();
    try {
      if (!this.registered) await this.register();
      else if (!(await beatReplica(this.options.pool, this.life))) this.lapse();
      this.beatAt = at;
      this.beats += 1;
      if (this.beats % REAP_EVERY === 1) await reapReplicas(this.options.pool, this.options.holdSeconds);
    } catch (error) {
      if (!this.closed) this.options.logger.debug({ err: error }, 'no beat');
    }
  }
}

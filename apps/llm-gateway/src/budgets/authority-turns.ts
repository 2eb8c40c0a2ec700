import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { openBudgets, type StoredKey } from '../keys/keys.queries.js';
import {
  type AskedCall,
  type CallAnswer,
  NO_ROUND,
  type Refusal,
  type Round,
  type Turn,
  type TurnAnswer,
  takeBudgets,
} from './authority.queries.js';
import { type LeaseBook, type Reservation, UNLIMITED } from './lease-book.js';
import { away, exhausted, reserved } from './refusals.js';

export interface AuthorityTurnsOptions {
  readonly pool: SqlPool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly book: LeaseBook;
  /** Calls that Postgres cannot be asked about: refused, or let in and only counted. */
  readonly whenAway: 'closed' | 'open';
  /** Longest wait for calls under way when they hold all that is left of a budget. Milliseconds. */
  readonly reservedWaitMs: number;
  /** This instance is registered in Postgres when it resolves. */
  readonly register: () => Promise<void>;
  /** Postgres has released what this instance held. */
  readonly lapsed: () => void;
}

/**
 * A turn that waits for an answer of Postgres longer than this counts as without one, for the calls in it.
 * Milliseconds.
 */
const ANSWER_MS = 2_500;
/** Longest wait of a round for those who do not answer a recall. Milliseconds. */
const ROUND_MS = 250;
/** Rounds may follow each other for this long. Milliseconds. */
const ROUNDS_MS = 3_000;
const MAX_CALLS_OF_TURN = 256;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1_000;
/** Budgets of a call that are others again and again. */
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
  readonly signal: AbortSignal;
  readonly abort: () => void;
  resolve(reservation: Reservation): void;
  reject(error: SlipwayError): void;
}

/**
 * Turns with the authority, Postgres, one at a time: each gives back, answers recalls, requests calls and refills in
 * one commit, and is retried until it is answered; a repetition is a no-op.
 *
 * A call for which there is no room waits for a round: all others who hold a part are asked to give back what is free.
 * It is refused when there was no room at the start of a round in which no other replica had anything free, even with
 * all that came back in it: at that start everything was spent or reserved.
 */
export class AuthorityTurns {
  /** Recalls can be heard: only then may anything be held loosely. */
  listening = false;
  private waiting: Waiting[] = [];
  private turns = 0;
  private failing: unknown = null;
  private running: Promise<void> | null = null;
  private scheduled = false;
  private closed = false;

  constructor(private readonly options: AuthorityTurnsOptions) {}

  /** @param accounts `null`: those of the key are to be read again. @throws (rejects) as `Admitter.admit`. */
  ask(
    key: StoredKey,
    accounts: readonly number[] | null,
    { want, least }: { readonly want: number; readonly least: number },
    signal: AbortSignal,
  ): Promise<Reservation> {
    if (this.failing !== null || this.closed) return this.withoutAuthority(this.failing);
    return new Promise((resolve, reject) => {
      const call: Waiting = {
        key,
        accounts: accounts ?? [],
        want,
        least: Math.min(least, want),
        since: performance.now(),
        round: NO_ROUND,
        ready: accounts !== null,
        stale: 0,
        over: false,
        timer: undefined,
        signal,
        abort: () => this.end(call, reserved(null)),
        resolve,
        reject,
      };
      if (signal.aborted) return void reject(reserved(null));
      signal.addEventListener('abort', call.abort, { once: true });
      this.waiting.push(call);
      if (accounts === null) void this.reopen(call);
      else this.schedule();
    });
  }

  /** Something of an account has come back. */
  freed(account: number): void {
    for (const call of this.waiting) if (call.timer !== undefined && call.accounts.includes(account)) call.ready = true;
    this.schedule();
  }

  schedule(): void {
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

  /** Calls that wait are refused; a turn under way is waited for. */
  async close(): Promise<void> {
    this.closed = true;
    for (const call of [...this.waiting]) this.end(call, away(new Error('the process ends')));
    await this.running;
  }

  private withoutAuthority(cause: unknown): Promise<Reservation> {
    return this.options.whenAway === 'open' ? Promise.resolve(UNLIMITED) : Promise.reject(away(cause));
  }

  private doWithout(call: Waiting, cause: unknown): void {
    this.end(call, this.options.whenAway === 'open' ? UNLIMITED : away(cause));
  }

  private end(call: Waiting, outcome: Reservation | SlipwayError): void {
    if (call.over) return;
    call.over = true;
    clearTimeout(call.timer);
    call.signal.removeEventListener('abort', call.abort);
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    if ('ticks' in outcome) call.resolve(outcome);
    else call.reject(outcome);
  }

  /** A call's budgets are others by now: the cycle has ended, or a limit was set or taken away. */
  private async reopen(call: Waiting): Promise<void> {
    call.ready = false;
    call.round = NO_ROUND;
    try {
      const budgets = await openBudgets(this.options.pool, call.key, this.options.clock.now());
      this.options.book.link(call.key, budgets);
      if (budgets.length === 0) return void this.end(call, UNLIMITED);
      call.accounts = budgets.map(({ account }) => account);
      call.ready = true;
      this.schedule();
    } catch (error) {
      this.doWithout(call, error);
    }
  }

  private hasWork(): boolean {
    if (this.options.book.refills.size > 0 || this.waiting.some(({ ready }) => ready)) return true;
    for (const lease of this.options.book.due) if (lease.due) return true;
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
    const { book, clock } = this.options;
    const now = performance.now();
    const touched = new Set(book.due);
    book.due.clear();
    for (const call of calls) {
      call.ready = false;
      for (const account of call.accounts) {
        const lease = book.leaseOf(account, call.key.orgId);
        lease.usedAt = now;
        touched.add(lease);
        if (this.listening && lease.askRefill(call.want, now)) book.refills.add(lease);
      }
    }
    const refill: Array<{ a: number; n: number }> = [];
    for (const lease of book.refills) {
      if (this.listening) refill.push({ a: lease.account, n: Math.round(lease.target) });
      else lease.wantsRefill = false;
    }
    book.refills.clear();
    this.turns += 1;
    return {
      number: this.turns,
      at: clock.now(),
      back: [...touched].flatMap((lease) => lease.giveBack() ?? []),
      calls: calls.map(({ accounts, want, least, round }): AskedCall => ({ ...round, a: accounts, w: want, m: least })),
      refill,
    };
  }

  /**
   * Until it is answered; `null` when the process ends first. While it is not, calls that need the authority do without
   * it.
   */
  private async send(turn: Turn): Promise<TurnAnswer | null> {
    for (let attempt = 0; !this.closed; attempt += 1) {
      const late = setTimeout(() => this.fail(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
      try {
        await this.options.register();
        const answer = await takeBudgets(this.options.pool, this.options.book.life, turn);
        if (this.failing !== null) this.options.logger.info('budget authority answers again');
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
    if (this.failing === null)
      this.options.logger.warn(
        { err: error },
        'budget authority unreachable, calls are admitted by what this replica holds',
      );
    this.failing = error;
    for (const call of [...this.waiting]) this.doWithout(call, error);
  }

  private lapse(): void {
    this.options.lapsed();
    for (const call of this.waiting) {
      call.round = NO_ROUND;
      call.ready = true;
    }
  }

  private take(turn: Turn, calls: readonly Waiting[], answer: Extract<TurnAnswer, { calls: unknown }>): void {
    const { book } = this.options;
    const now = performance.now();
    const given = new Map(answer.refill.map(({ a, n }) => [a, n]));
    for (const { a } of turn.refill) book.leaseOf(a, '').refilled(given.get(a) ?? 0, now);
    calls.forEach((call, index) => {
      const each = answer.calls[index];
      if (each !== undefined) this.answer(call, each);
    });
  }

  private answer(call: Waiting, answer: CallAnswer): void {
    const { book } = this.options;
    if ('g' in answer) {
      const reservation = {
        ticks: answer.g,
        holder: book.life,
        leases: call.accounts.map((account) => book.leaseOf(account, call.key.orgId)),
      };
      // Whoever asked has gone: nothing of it is spent.
      if (call.over) book.release(reservation, 0);
      else this.end(call, reservation);
      return;
    }
    if (call.over) return;
    if ('stale' in answer) {
      call.stale += 1;
      if (call.stale > MAX_STALE)
        return void this.doWithout(call, new Error('the budgets change faster than they can be read'));
      return void this.reopen(call);
    }
    const waited = performance.now() - call.since;
    if (!('wait' in answer)) return void this.refused(call, answer, waited);
    if (waited > ROUNDS_MS + this.options.reservedWaitMs) return void this.end(call, reserved(null));
    call.round = { r: answer.r, f: answer.f, t: answer.t, c: answer.c, b: answer.a };
    if (answer.alone === true) {
      // No other replica holds anything: what has come free here meanwhile goes with the next turn.
      call.ready = true;
      return;
    }
    book.leaseOf(answer.a, call.key.orgId).ownRound = answer.r;
    this.wakeLater(call);
  }

  private refused(call: Waiting, refusal: Refusal, waited: number): void {
    if (refusal.spent + call.least > refusal.limit)
      return void this.end(call, exhausted(call.key, refusal, call.least));
    if (waited >= this.options.reservedWaitMs) return void this.end(call, reserved(refusal));
    call.round = NO_ROUND;
    this.wakeLater(call);
  }

  /** At the latest after the time of a round: whoever has not answered by then is asked about again. */
  private wakeLater(call: Waiting): void {
    clearTimeout(call.timer);
    call.timer = setTimeout(() => {
      call.ready = true;
      this.schedule();
    }, ROUND_MS);
  }
}

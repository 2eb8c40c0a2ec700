import { randomUUID } from 'node:crypto';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { createLogger } from '@slipway/telemetry';
import { type TestDatabase, until } from '@slipway/testing';
import { openBudgets, type StoredKey } from '../../keys/keys.queries.js';
import { insertLedgerEntries } from '../../ledger/ledger.queries.js';
import { LedgerWriter } from '../../ledger/ledger-writer.js';
import type { Admission, Claim } from '../admission.js';
import type { BudgetLeasesOptions } from '../budget-leases.js';
import { createAdmitter, type RunningAdmitter } from '../create-admitter.js';
import { toTicks } from '../ticks.js';

const logger = createLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent');
const never = new AbortController().signal;

/** One gateway as far as money goes: what lets in, and what writes down. */
export interface MoneyReplica {
  readonly admitter: RunningAdmitter;
  readonly ledger: LedgerWriter;
  readonly pool: SqlPool;
  /** When the last turn was sent that has been answered. */
  turnSentAt(): number;
  close(): Promise<void>;
  /** Dies without a word: nothing is given back, and what it had not stored is lost with it. */
  die(): Promise<void>;
}

/** Everything that was settled is in the ledger, however often a busy database has to be asked. */
export function stored(replica: MoneyReplica): Promise<true> {
  return until('the ledger has it', () => replica.ledger.flush());
}

export async function startMoneyReplica(
  database: TestDatabase,
  more: Partial<BudgetLeasesOptions> = {},
): Promise<MoneyReplica> {
  const pool = createPool({
    url: database.urls.gateway,
    max: 5,
    applicationName: 'test-replica',
    queryTimeoutMs: 4_000,
    onError: () => {},
  });
  let dead = false;
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  let turnSentAt = 0;
  const turn = async (...args: unknown[]): Promise<unknown> => {
    const at = performance.now();
    const answer = await query(...args);
    turnSentAt = at;
    return answer;
  };
  Object.assign(pool, {
    query: (...args: unknown[]) => {
      if (dead) return Promise.reject(new Error('dead'));
      return (args[0] as { name?: string } | undefined)?.name === 'take-budgets' ? turn(...args) : query(...args);
    },
  });
  const ledger = new LedgerWriter({
    store: async (entries) => (dead ? Promise.reject(new Error('dead')) : insertLedgerEntries(pool, entries)),
    spool: null,
    logger,
  });
  const admitter = createAdmitter({
    pool,
    clock: systemClock,
    logger,
    whenAway: 'closed',
    holdSeconds: 1_800,
    reservedWaitMs: 0,
    limitsChanged: () => {},
    keyChanged: () => {},
    ...more,
  });
  await admitter.start();
  return {
    admitter,
    ledger,
    pool,
    turnSentAt: () => turnSentAt,
    close: async () => {
      await ledger.close(5_000);
      await admitter.close();
      await pool.end();
    },
    die: async () => {
      dead = true;
      await admitter.close();
      await ledger.close(0);
      await pool.end();
    },
  };
}

/** A key with all budgets that hold for it now. */
export async function keyWithBudgets(
  pool: SqlPool,
  who: { orgId: string; userId: string; id?: string; conversationId?: string },
): Promise<StoredKey> {
  const key: StoredKey = {
    id: who.id ?? `key_${randomUUID()}`,
    orgId: who.orgId,
    conversationId: who.conversationId ?? randomUUID(),
    userId: who.userId,
    models: [],
    hash: Buffer.alloc(32),
    expiresAt: Number.MAX_SAFE_INTEGER,
    revokedAt: null,
    stop: null,
  };
  return { ...key, budgets: await openBudgets(pool, key, systemClock.now()) };
}

export function claim(maxCostUsd: number, minCostUsd = maxCostUsd): Claim {
  return { model: 'm', maxCostUsd, minCostUsd, promptTokens: 1, maxTokens: 2 };
}

/** The call's row in the ledger and its settlement, as the hot path does both. */
export function finish({ ledger }: MoneyReplica, key: StoredKey, admission: Admission, costUsd: number): void {
  ledger.add({
    id: randomUUID(),
    orgId: key.orgId,
    conversationId: key.conversationId,
    keyId: key.id,
    userId: key.userId,
    requestId: 'r',
    traceId: 't',
    model: 'm',
    promptTokens: 1,
    completionTokens: 1,
    cachedTokens: 0,
    usageSource: 'reported',
    costUsd,
    costKnown: true,
    status: 'ok',
    errorCode: null,
    streamed: true,
    startedAt: systemClock.now().toISOString(),
    firstByteMs: 1,
    latencyMs: 1,
    ...admission.draw,
  });
  admission.settle(
    { promptTokens: 1, completionTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
    costUsd,
  );
}

/** What is truly spent and reserved, to the tick. */
export class Truth {
  overspent = 0;
  private readonly used = new Map<number, number>();
  /** By account: from when on how much, in the order of time. */
  private readonly history = new Map<number, Array<{ at: number; used: number }>>();
  private readonly pending = new Set<Promise<unknown>>();

  constructor(private readonly limits: ReadonlyMap<number, number>) {}

  /** @param since when it was reserved in Postgres, at the earliest: its call hears of it later. */
  add(key: StoredKey, ticks: number, since = performance.now()): void {
    for (const { account } of key.budgets ?? []) {
      const used = (this.used.get(account) ?? 0) + ticks;
      this.used.set(account, used);
      this.overspent = Math.max(this.overspent, used - (this.limits.get(account) ?? Number.POSITIVE_INFINITY));
      const history = this.history.get(account) ?? [];
      this.history.set(account, history);
      const before = history.findLastIndex(({ at }) => at <= since);
      history.splice(before + 1, 0, { at: since, used: history[before]?.used ?? 0 });
      for (const each of history.slice(before + 1)) each.used += ticks;
    }
  }

  /**
   * Answers, when called, whether there was room for so much in every budget all the time until then. @param heard
   * resolves when the call knows.
   */
  watch(key: StoredKey, least: number, heard: Promise<unknown>): () => Promise<boolean> {
    const from = performance.now();
    this.pending.add(heard);
    void heard.then(() => this.pending.delete(heard));
    return async () => {
      const to = performance.now();
      // Of what was reserved by now its calls may hear later.
      await Promise.all(this.pending);
      return (key.budgets ?? []).every(({ account }) => {
        const history = this.history.get(account) ?? [];
        const first = Math.max(
          0,
          history.findLastIndex(({ at }) => at <= from),
        );
        const most = Math.max(0, ...history.slice(first).flatMap(({ at, used }) => (at <= to ? [used] : [])));
        return most + least <= (this.limits.get(account) ?? Number.POSITIVE_INFINITY);
      });
    };
  }
}

export interface Stream {
  readonly replica: MoneyReplica;
  readonly key: StoredKey;
  readonly maxCostUsd: number;
  readonly minCostUsd: number;
  /** Of what it was given. */
  readonly share: number;
  readonly beginsAfterMs: number;
  readonly lastsMs: number;
}

export interface RaceResult {
  admitted: number;
  refused: number;
  falseRefusals: number;
  overspent: number;
  /** Ticks. */
  settled: number;
}

/** Lets streams race, each refused at once when there is no room. */
export async function race(streams: readonly Stream[], limits: ReadonlyMap<number, number>): Promise<RaceResult> {
  const truth = new Truth(limits);
  const result: RaceResult = { admitted: 0, refused: 0, falseRefusals: 0, overspent: 0, settled: 0 };
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
  await Promise.all(
    streams.map(async ({ replica, key, maxCostUsd, minCostUsd, share, beginsAfterMs, lastsMs }) => {
      await pause(beginsAfterMs);
      const { promise: heard, resolve: hear } = Promise.withResolvers<void>();
      const wasRoom = truth.watch(key, toTicks(minCostUsd), heard);
      let admission: Admission;
      let asked = false;
      try {
        const admitting = replica.admitter.admit(key, claim(maxCostUsd, minCostUsd), never);
        asked = admitting instanceof Promise;
        admission = await admitting;
      } catch (error) {
        hear();
        if (!(error instanceof SlipwayError) || !['budget.exhausted', 'rate.limited'].includes(error.code)) throw error;
        result.refused += 1;
        if (await wasRoom()) {
          result.falseRefusals += 1;
        }
        return;
      }
      result.admitted += 1;
      const ceiling = toTicks(admission.ceilingUsd ?? maxCostUsd);
      truth.add(key, ceiling, asked ? replica.turnSentAt() : performance.now());
      hear();
      await pause(lastsMs);
      const cost = Math.floor(ceiling * share);
      finish(replica, key, admission, cost / 1e10);
      truth.add(key, cost - ceiling);
      result.settled += cost;
    }),
  );
  result.overspent = truth.overspent;
  return result;
}

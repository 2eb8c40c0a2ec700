import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { Counter, Gauge, type Registry } from '@slipway/telemetry/http';
import type { ConversationLocks } from '../../conversations/conversation-locks.js';
import { Lead } from '../leads/lead.js';
import { SweepRuns } from '../leads/sweep-runs.js';
import { compareCounts, orgsToSettle, recount, type StorageTotals, settle, storageTotals } from './storage.queries.js';

/** Between two rounds. Milliseconds. */
const ROUND_MS = 30_000;
/**
 * Conversations of one query, and how long a round goes on with further ones. A page of large logs reads their rows,
 * never their texts.
 */
const PAGE = 100;
const ROUND_BUDGET_MS = 2_000;
/** The sum of each organization is checked this often. Seconds. */
const SETTLE_SECONDS = 600;
const ORGS_AT_ONCE = 200;

/**
 * Compares the counts of storage with the rows that they count, conversation by conversation and without end, and
 * corrects what is off. Nothing should be: every count is written by the transaction that writes the bytes. Rows of
 * before there were counts, and whatever a user or a defect changes, are found here.
 */
export class StorageSweep {
  private readonly lead: Lead;
  private readonly runs: SweepRuns;
  private readonly corrected: Counter | null;
  private after: string | null = null;

  constructor(
    private readonly pool: SqlPool,
    locks: Pick<ConversationLocks, 'tryLock'>,
    private readonly logger: Logger,
    metrics?: Registry,
  ) {
    this.runs = new SweepRuns(pool);
    this.corrected =
      metrics === undefined
        ? null
        : new Counter({
            name: 'storage_corrected_bytes_total',
            help: 'Bytes by which counts of storage were corrected',
            registers: [metrics],
          });
    this.lead = new Lead({ name: 'storage', everyMs: ROUND_MS, locks, logger, round: (signal) => this.round(signal) });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round, if this worker leads. */
  tick(): Promise<void> {
    return this.lead.tick();
  }

  private async round(signal: AbortSignal): Promise<void> {
    const end = performance.now() + ROUND_BUDGET_MS;
    do {
      signal.throwIfAborted();
      const { last, miscounted } = await compareCounts(this.pool, this.after, PAGE);
      for (const conversation of miscounted)
        this.note('conversation', conversation.id, await recount(this.pool, conversation));
      this.after = last;
    } while (this.after !== null && performance.now() < end);
    for (const orgId of await orgsToSettle(this.pool, SETTLE_SECONDS, ORGS_AT_ONCE)) {
      signal.throwIfAborted();
      this.note('organization', orgId, await settle(this.pool, orgId));
    }
    await this.runs.completed('storage');
  }

  private note(of: 'conversation' | 'organization', id: string, driftBytes: number): void {
    if (driftBytes === 0) return;
    this.corrected?.inc(Math.abs(driftBytes));
    this.logger.warn({ of, id, drift_bytes: driftBytes }, 'storage count corrected');
  }
}

/** The same in every worker. Without a value while the database does not answer. */
export function storageGauges(pool: SqlPool, metrics: Registry): void {
  let reading: Promise<StorageTotals> | null = null;
  const totals = (): Promise<StorageTotals> => {
    reading ??= storageTotals(pool).finally(() => {
      reading = null;
    });
    return reading;
  };
  const gauge = (name: string, help: string, value: (totals: StorageTotals) => number): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers: [metrics],
      collect: () =>
        totals().then(
          (found) => made.set(value(found)),
          () => made.remove(),
        ),
    });
  };
  gauge(
    'storage_used_bytes',
    'Storage that all organizations have taken in the database',
    ({ usedBytes }) => usedBytes,
  );
  gauge(
    'storage_near_limit_organizations',
    'Organizations at 80 % of their storage limit and more',
    ({ near }) => near,
  );
  gauge('storage_full_organizations', 'Organizations without room for another block of storage', ({ full }) => full);
  gauge('storage_fullest_ratio', 'Share of its limit that the fullest organization uses', ({ fullest }) => fullest);
}

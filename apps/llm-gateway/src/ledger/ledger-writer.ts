import type { Logger } from '@slipway/telemetry';
import type { LedgerInput } from './ledger-entry.js';
import type { LedgerSpool } from './ledger-spool.js';

/** Longest that an entry waits for others before it is sent. Milliseconds. */
export const FLUSH_AFTER_MS = 50;
/** Entries of one INSERT. */
const BATCH = 500;
/** Entries kept in memory while Postgres is away; about 1 kB each. */
const MAX_PENDING = 20_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;

export interface LedgerWriterOptions {
  /** Stores a batch in one commit; storing an entry again must change nothing. */
  readonly store: (entries: readonly LedgerInput[]) => Promise<void>;
  /**
   * `null`: entries that are not stored yet end with the process, at most `FLUSH_AFTER_MS` of them while Postgres
   * answers.
   */
  readonly spool: LedgerSpool | null;
  readonly logger: Logger;
  readonly maxPending?: number;
}

/**
 * Carries calls into the ledger beside the hot path, in batches.
 *
 * Never loses an entry in silence: while Postgres is away they stay in memory and, with a spool, on disk; what has no
 * room in memory is on disk only, or without a spool goes whole into the log at level error. The same holds for an
 * entry that Postgres refuses for what it says.
 */
export class LedgerWriter {
  private readonly pending: LedgerInput[] = [];
  /** Segments whose entries are in `pending`, or, when `spilled`, on disk only. */
  private sealed: string[] = [];
  private spilled = false;
  private timer: NodeJS.Timeout | undefined;
  private flushing: Promise<boolean> | null = null;
  private failures = 0;

  constructor(private readonly options: LedgerWriterOptions) {}

  /** Entries not yet stored, as far as they are in memory. */
  get size(): number {
    return this.pending.length;
  }

  /** Loads what a previous process had not stored. */
  async recover(): Promise<void> {
    this.sealed.push(...((await this.options.spool?.leftOver()) ?? []));
    if (this.sealed.length === 0) return;
    this.spilled = true;
    this.schedule(0);
  }

  /** Never throws and never waits. */
  add(entry: LedgerInput): void {
    const { spool, logger, maxPending = MAX_PENDING } = this.options;
    spool?.append(entry);
    if (this.pending.length < maxPending) this.pending.push(entry);
    else if (spool !== null) this.spilled = true;
    else logger.error({ ledger_entry: entry }, 'ledger entry not stored: too many wait for the database');
    this.schedule(FLUSH_AFTER_MS);
  }

  /** Stores what there is. Answers whether everything is stored; when not, it is tried again by itself. */
  flush(): Promise<boolean> {
    // The one under way may have begun before the newest entry was there.
    return this.flushing === null ? this.begin() : this.flushing.then(() => this.flushing ?? this.begin());
  }

  private begin(): Promise<boolean> {
    this.flushing = this.run().finally(() => {
      this.flushing = null;
      if (this.failures > 0) this.schedule(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1)));
      else if (this.pending.length > 0 || this.options.spool?.open === true) this.schedule(FLUSH_AFTER_MS);
    });
    return this.flushing;
  }

  /** Stores what there is within `timeoutMs`. What remains is on disk, or without a spool in the log. */
  async close(timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs;
    while (performance.now() < end && (this.pending.length > 0 || this.spilled || this.options.spool?.open === true)) {
      if (!(await this.flush())) await new Promise((resolve) => setTimeout(resolve, FIRST_RETRY_MS));
    }
    clearTimeout(this.timer);
    if (this.pending.length === 0) return;
    if (this.options.spool !== null)
      return this.options.logger.warn(
        { entries: this.pending.length },
        'ledger entries left on disk for the next start',
      );
    for (const entry of this.pending)
      this.options.logger.error({ ledger_entry: entry }, 'ledger entry not stored: process ended first');
  }

  private schedule(delayMs: number): void {
    if (this.timer !== undefined || this.flushing !== null) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, delayMs);
  }

  private async run(): Promise<boolean> {
    const { spool, logger } = this.options;
    if (spool !== null) this.sealed.push(...(await spool.seal()));
    const done = this.sealed.length;
    const spilled = this.spilled;
    try {
      // Taken after the seal, so that nothing is only in a segment that is removed below.
      for (let left = this.pending.length; left > 0; ) {
        const batch = this.pending.slice(0, Math.min(BATCH, left));
        await this.storeBatch(batch);
        this.pending.splice(0, batch.length);
        left -= batch.length;
      }
      if (spool !== null && spilled) {
        this.spilled = false;
        for (const segment of this.sealed.slice(0, done)) {
          const entries = await spool.read(segment);
          for (let start = 0; start < entries.length; start += BATCH)
            await this.storeBatch(entries.slice(start, start + BATCH));
        }
      }
    } catch (error) {
      this.spilled ||= spilled;
      this.failures += 1;
      if (this.failures === 1 || this.failures % 20 === 0)
        logger.error(
          { err: error, entries: this.pending.length, attempts: this.failures },
          'ledger entries wait: database does not accept them',
        );
      return false;
    }
    if (this.failures > 0) logger.info({ attempts: this.failures }, 'ledger entries stored again');
    this.failures = 0;
    const removable = this.sealed.splice(0, done);
    await spool?.remove(removable);
    return true;
  }

  private async storeBatch(batch: readonly LedgerInput[]): Promise<void> {
    try {
      await this.options.store(batch);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // One entry must not hold up the others for ever.
      if (batch.length > 1) {
        for (const entry of batch) await this.storeBatch([entry]);
        return;
      }
      this.options.logger.error(
        { err: error, ledger_entry: batch[0] },
        'ledger entry not stored: database refused its content',
      );
    }
  }
}

/** Postgres' classes 22 (data) and 23 (constraint): the same rows would be refused again. */
function isRefusal(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^2[23]/.test(code);
}

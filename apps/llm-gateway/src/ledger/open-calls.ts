import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { LedgerInput } from './ledger-entry.js';
import type { LedgerWriter } from './ledger-writer.js';
import type { OpenCallFiles } from './open-call-files.js';
import type { OpenCall } from './open-calls.queries.js';

/** A call that is over by then needs no row beside that of the ledger. Milliseconds. */
export const RECORD_AFTER_MS = 25;
/** Longest wait for Postgres of a call that may not be sent before its row is there. Milliseconds. */
const RECORDED_WITHIN_MS = 2_500;
/** Between two attempts to settle calls of a previous process. Milliseconds. */
const RECOVER_AGAIN_MS = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;
/** Rows of one commit. */
const BATCH = 500;
/** Poll interval for records of calls that are over. Milliseconds. */
const FORGOTTEN_EVERY_MS = 15_000;
/** A record that is younger may be of a call whose row is being stored. Seconds. */
const FORGOTTEN_AFTER_S = 15;

export interface OpenCallsOptions {
  /** One commit; recording a call again changes nothing. */
  readonly record: (begun: readonly OpenCall[], ended: readonly string[]) => Promise<void>;
  /** Ids that Postgres has had as under way at this replica for `seconds`; a bounded number of them. */
  readonly recorded: (replica: string, seconds: number) => Promise<readonly string[]>;
  readonly ledger: Pick<LedgerWriter, 'add' | 'flush'>;
  /** `null`: a call waits until Postgres has its row. */
  readonly files: OpenCallFiles | null;
  /** Instance id of the process that holds budgets now. */
  readonly replica: () => string;
  /** Calls while neither a disk nor Postgres takes their row: refused, or let in all the same. */
  readonly whenAway: 'closed' | 'open';
  readonly logger: Logger;
}

interface Recorded {
  readonly call: OpenCall;
  /** Its line on disk may go. */
  release: (() => void) | null;
  /**
   * `sent`: a commit that holds it is under way. `stored`: Postgres has it, and may lose it in a crash, since that
   * commit is not flushed.
   */
  state: 'waiting' | 'sent' | 'stored';
  /** Postgres may have it, whatever `state` says. */
  known: boolean;
  over: boolean;
  settle: ((error: unknown) => void) | null;
}

/**
 * Calls sent to a provider without a row in the ledger yet: recorded before they are sent, so that a call whose gateway
 * dies is charged at what was granted.
 *
 * With a folder, before it is sent on disk (which a kill does not lose) and after `RECORD_AFTER_MS` in Postgres (which
 * the loss of the pod does not lose), many calls in one commit. Without one, in Postgres before it is sent. That commit
 * is not flushed, so the line on disk stays until the call's own row is in the ledger, and all calls are recorded again
 * after Postgres broke off: it may have crashed. The next process settles what is on disk; the ending of a replica in
 * Postgres settles what is there. A call that has its own row in the ledger keeps that. A removal that Postgres lost in
 * a crash is found and made again.
 */
export class OpenCalls {
  private readonly calls = new Map<string, Recorded>();
  private waiting: Recorded[] = [];
  private ended: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | null = null;
  private flushing: Promise<void> | null = null;
  private failures = 0;
  private diskFails = false;
  private former: string[] = [];
  private settling: readonly LedgerInput[] | null = null;
  private recovering: Promise<boolean> | null = null;
  private closed = false;
  private looking: NodeJS.Timeout | undefined;

  constructor(private readonly options: OpenCallsOptions) {}

  /** Calls that have no row in the ledger yet. */
  get size(): number {
    return this.calls.size;
  }

  /**
   * Must be done before a call is sent. @throws (rejects) SlipwayError `service.unavailable` when nothing can write it
   * down.
   */
  begin(entry: LedgerInput): void | Promise<void> {
    const recorded: Recorded = {
      call: { replica: this.options.replica(), entry },
      release: null,
      state: 'waiting',
      known: false,
      over: false,
      settle: null,
    };
    this.calls.set(entry.id, recorded);
    this.waiting.push(recorded);
    if (this.onDisk(recorded)) return this.schedule(RECORD_AFTER_MS);
    return this.inPostgres(recorded);
  }

  /** Their own rows are in the ledger. */
  stored(entries: ReadonlyArray<Pick<LedgerInput, 'id'>>): void {
    for (const { id } of entries) {
      const recorded = this.calls.get(id);
      if (recorded === undefined) continue;
      this.calls.delete(id);
      recorded.over = true;
      this.release(recorded);
      if (recorded.known) this.ended.push(id);
    }
    if (this.ended.length > 0) this.schedule(RECORD_AFTER_MS);
  }

  /** Finds what previous processes left on disk, and settles it as soon as their own rows are stored. */
  async start(): Promise<void> {
    this.former = (await this.options.files?.leftOver().catch((error: unknown) => void this.diskFailed(error))) ?? [];
    if (this.former.length > 0) void this.recoverInTime();
    this.looking = setInterval(() => void this.removeForgotten(), FORGOTTEN_EVERY_MS).unref();
  }

  /** Removes records of this replica whose calls have their own rows in the ledger. Never throws. */
  async removeForgotten(): Promise<void> {
    const replica = this.options.replica();
    try {
      const recorded = await this.options.recorded(replica, FORGOTTEN_AFTER_S);
      const over = recorded.filter((id) => !this.calls.has(id));
      if (over.length === 0 || this.closed) return;
      this.ended.push(...over);
      this.schedule(RECORD_AFTER_MS);
    } catch (error) {
      this.options.logger.warn({ err: error }, 'failed to look for records of calls that are over, will retry');
    }
  }

  /**
   * Writes calls of previous processes that have no row of their own into the ledger. Returns whether all of them are
   * there. Never throws.
   */
  recover(): Promise<boolean> {
    this.recovering ??= this.recoverFiles().finally(() => {
      this.recovering = null;
    });
    return this.recovering;
  }

  /** After the ledger has been closed: what is left is settled at the end of this replica, or by its next process. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.looking);
    clearTimeout(this.timer);
    if (this.immediate !== null) clearImmediate(this.immediate);
    await this.flushing;
    if (this.ended.length > 0 || this.waiting.some(({ over }) => !over)) await this.flush().catch(() => {});
    this.options.files?.close();
  }

  private async recoverInTime(): Promise<void> {
    while (!this.closed && !(await this.recover()))
      await new Promise((resolve) => setTimeout(resolve, RECOVER_AGAIN_MS).unref());
  }

  private async recoverFiles(): Promise<boolean> {
    const { files, ledger, logger } = this.options;
    // A call that has ended has its own row on disk or in memory: that one is stored first.
    if (!(await ledger.flush())) return false;
    if (files === null || this.former.length === 0) return true;
    if (this.settling === null) {
      try {
        this.settling = (await Promise.all(this.former.map((file) => files.read(file)))).flat();
      } catch (error) {
        logger.error({ err: error }, 'failed to read calls of an earlier process, will retry');
        return false;
      }
      for (const entry of this.settling) ledger.add(entry);
    }
    if (!(await ledger.flush())) return false;
    logger.info(
      { calls: this.settling.length },
      'calls of an earlier process settled, those without an end as estimated',
    );
    for (const file of this.former.splice(0)) await files.forget(file);
    this.settling = null;
    return true;
  }

  private onDisk(recorded: Recorded): boolean {
    const { files } = this.options;
    if (files === null) return false;
    try {
      recorded.release = files.write(recorded.call.entry);
      this.diskFails = false;
      return true;
    } catch (error) {
      this.diskFailed(error);
      return false;
    }
  }

  private diskFailed(error: unknown): void {
    if (!this.diskFails)
      this.options.logger.error({ err: error }, 'failed to write calls under way to disk, each waits for Postgres');
    this.diskFails = true;
  }

  private inPostgres(recorded: Recorded): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => recorded.settle?.(new Error(`no answer within ${RECORDED_WITHIN_MS} ms`)),
        RECORDED_WITHIN_MS,
      );
      recorded.settle = (error) => {
        clearTimeout(late);
        recorded.settle = null;
        if (error === null || this.options.whenAway === 'open') return resolve();
        // It is not sent: nothing is to be settled for it.
        this.stored([recorded.call.entry]);
        reject(
          new SlipwayError('service.unavailable', 'The call could not be recorded: the database does not answer.', {
            cause: error,
            retryAfterSeconds: 1,
          }),
        );
      };
      this.schedule(0);
    });
  }

  private release(recorded: Recorded): void {
    recorded.release?.();
    recorded.release = null;
  }

  /** A commit under way is followed by the next at once: what came meanwhile goes together. */
  private schedule(delayMs: number): void {
    if (this.flushing !== null || this.closed) return;
    if (delayMs === 0) {
      // All calls of this turn of the event loop go together.
      clearTimeout(this.timer);
      this.timer = undefined;
      this.immediate ??= setImmediate(() => this.run());
    } else if (this.immediate === null) this.timer ??= setTimeout(() => this.run(), delayMs);
  }

  private run(): void {
    this.timer = undefined;
    this.immediate = null;
    this.flushing = this.flush()
      .then(
        () => {
          this.failures = 0;
        },
        (error: unknown) => this.failed(error),
      )
      .finally(() => {
        this.flushing = null;
        const retry =
          this.failures === 0 ? RECORD_AFTER_MS : Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.failures - 1));
        const urgent = this.failures === 0 && this.waiting.some(({ settle }) => settle !== null);
        if (this.waiting.length > 0 || this.ended.length > 0) this.schedule(urgent ? 0 : retry);
      });
  }

  private async flush(): Promise<void> {
    const begun = this.waiting.filter(({ over }) => !over).slice(0, BATCH);
    const ended = this.ended.slice(0, BATCH);
    this.waiting = this.waiting.filter(({ over }) => !over);
    if (begun.length === 0 && ended.length === 0) return;
    for (const recorded of begun) {
      recorded.state = 'sent';
      recorded.known = true;
    }
    await this.options.record(
      begun.map(({ call }) => call),
      ended,
    );
    this.waiting.splice(0, begun.length);
    this.ended.splice(0, ended.length);
    for (const recorded of begun) {
      recorded.state = 'stored';
      recorded.settle?.(null);
    }
  }

  private failed(error: unknown): void {
    this.failures += 1;
    if (this.failures === 1 || this.failures % 20 === 0)
      this.options.logger.warn(
        { err: error, calls: this.waiting.length, attempts: this.failures },
        'failed to record calls under way, will retry',
      );
    for (const recorded of [...this.waiting]) recorded.settle?.(error);
    this.recordAgain();
  }

  /** A Postgres that broke off may have crashed, and lost what it had not flushed. */
  private recordAgain(): void {
    for (const recorded of this.calls.values()) {
      if (recorded.state !== 'stored') continue;
      recorded.state = 'waiting';
      this.waiting.push(recorded);
    }
  }
}

import type { Logger } from '@slipway/telemetry';

/** How often what was counted is sent. Milliseconds. */
const SEND_MS = 5_000;
/** Longest wait for the last counts to be taken when this process ends. Milliseconds. */
const LAST_MS = 2_000;
/** Rows that wait to be sent; past these a process counts what is new no more. */
export const MAX_WAITING_ROWS = 20_000;

export interface CountedBatch<Row> {
  readonly org: string;
  readonly source: string;
  /** Higher with each batch of this source. */
  readonly seq: number;
  readonly rows: Row[];
}

export interface CountedBatchesOptions<Row> {
  /** Hands a batch over. @throws where it may not have been taken; it is sent again as it is. */
  readonly send: (batch: CountedBatch<Row>) => Promise<void>;
  /** Name of this process among all that count; a UUID. */
  readonly source: string;
  /** Most rows of a batch. */
  readonly maxRows: number;
  /** What is counted, in the log: `traffic`. */
  readonly what: string;
  readonly logger: Logger;
  /** Called before each round: what has been counted elsewhere until now. */
  readonly beforeSend?: () => void;
  /** All rows of an organization are on their way. */
  readonly emptied?: (org: string) => void;
}

interface Waiting<Row> {
  readonly rows: Map<string, Row>;
  /** Was sent and not answered: it may have been counted, so it is sent again as it is. */
  sent: CountedBatch<Row> | null;
}

/**
 * Rows of counts by organization, sent every 5 s to who keeps them (docs/decisions/0068). A batch is sent until it is
 * answered, and the next of its organization only then; so its number says whether it was counted. What was counted in
 * the last 5 s is lost with a process that is killed.
 */
export class CountedBatches<Row> {
  private readonly orgs = new Map<string, Waiting<Row>>();
  private readonly timer: NodeJS.Timeout;
  private waiting = 0;
  private lost = 0;
  private seq = 0;
  private sending: Promise<void> | null = null;
  /** The last batch was not answered, and the log says so already. */
  private isAway = false;

  constructor(private readonly options: CountedBatchesOptions<Row>) {
    this.timer = setInterval(() => void this.send(), SEND_MS).unref();
  }

  /** Whether so many rows wait that no new one should be made. */
  get isFull(): boolean {
    return this.waiting >= MAX_WAITING_ROWS;
  }

  /** To be added to. @param most rows that may wait for a new one to be made. @returns `null`: more wait. */
  row(org: string, key: string, make: () => Row, most = MAX_WAITING_ROWS): Row | null {
    const of = this.orgs.get(org);
    const known = of?.rows.get(key);
    if (known !== undefined) return known;
    if (this.waiting >= most) return null;
    const made = make();
    if (of === undefined) this.orgs.set(org, { rows: new Map([[key, made]]), sent: null });
    else of.rows.set(key, made);
    this.waiting += 1;
    return made;
  }

  /** Counts that found no row; said in the log. */
  lose(count: number): void {
    this.lost += count;
  }

  /** Sends what was counted until now. Never fails: what is not answered stays. */
  send(): Promise<void> {
    this.options.beforeSend?.();
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  /** Sends what is left, for at most 2 s. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    // What is on its way now does not have the last counts.
    const last = async (): Promise<void> => {
      await this.sending;
      await this.send();
    };
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LAST_MS);
    await Promise.race([last(), late]);
    clearTimeout(timer);
  }

  private async sendAll(): Promise<void> {
    const { send, logger, what } = this.options;
    for (const [org, waiting] of [...this.orgs])
      while (waiting.sent !== null || waiting.rows.size > 0) {
        waiting.sent ??= this.batchOf(org, waiting);
        try {
          await send(waiting.sent);
        } catch (err) {
          if (!this.isAway) logger.warn({ err, org_id: org, what }, 'counts were not taken, will be sent again');
          this.isAway = true;
          // The others come first the next time: what is wrong may be about this one alone.
          this.orgs.delete(org);
          this.orgs.set(org, waiting);
          return;
        }
        this.waiting -= waiting.sent.rows.length;
        waiting.sent = null;
      }
    this.isAway = false;
    for (const [org, { rows, sent }] of this.orgs) if (rows.size === 0 && sent === null) this.orgs.delete(org);
    if (this.lost > 0) logger.warn({ lost: this.lost, what }, 'counts were lost: too many waited');
    this.lost = 0;
  }

  private batchOf(org: string, { rows }: Waiting<Row>): CountedBatch<Row> {
    const taken = [...rows].slice(0, this.options.maxRows);
    for (const [key] of taken) rows.delete(key);
    if (rows.size === 0) this.options.emptied?.(org);
    this.seq += 1;
    return { org, source: this.options.source, seq: this.seq, rows: taken.map(([, row]) => row) };
  }
}

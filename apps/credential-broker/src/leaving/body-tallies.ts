import type { BrokerLine } from '@slipway/contracts/credentials';
import {
  type EgressBodyBatch,
  type EgressBodyTally,
  MAX_BODY_ROWS,
  MAX_CONVERSATION_BODY_ROWS,
  OTHER_HOSTS,
  OTHER_TYPE,
} from '@slipway/contracts/sandboxes';
import type { Logger } from '@slipway/telemetry';
import type { BodyCounts } from './body-counts.js';

/** How often what was counted is sent. Milliseconds. */
const SEND_MS = 5_000;
/** Longest wait for app-server to take the last counts when this process ends. Milliseconds. */
const LAST_MS = 2_000;
/** Rows that wait for app-server; past these nothing more is counted. */
const MAX_WAITING = 20_000;
const HOUR_MS = 3_600_000;
/** Folders of one body that are counted by themselves. */
const MAX_FOLDERS = 10;

type Count = Pick<EgressBodyTally, 'requests' | 'bytes' | 'workspaceBytes' | 'unreadBytes'>;
type Row = Omit<EgressBodyTally, keyof Count> & { -readonly [K in keyof Count]: Count[K] };

interface Waiting {
  readonly rows: Map<string, Row>;
  /** Rows of a conversation. */
  readonly counts: Map<string, number>;
  sent: EgressBodyBatch | null;
}

export interface BodyTalliesOptions {
  readonly client: { countBodies(batch: EgressBodyBatch): Promise<void> };
  /** Name of this process among all that count; a UUID. */
  readonly source: string;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Counts what was in bodies, for app-server, as egress-proxy counts bytes (docs/decisions/0068): the batches of an
 * organization one after the other, each sent until it is answered, so that its number says whether it was counted.
 */
export class BodyTallies {
  private readonly orgs = new Map<string, Waiting>();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;
  private waiting = 0;
  private seq = 0;
  private sending: Promise<void> | null = null;
  private isAway = false;

  constructor(private readonly options: BodyTalliesOptions) {
    this.now = options.now ?? Date.now;
    this.timer = setInterval(() => void this.send(), SEND_MS).unref();
  }

  add({ org, conversation, host, port }: BrokerLine, { type, bytes, unreadBytes, found }: BodyCounts): void {
    const waiting = this.waitingOf(org);
    const hour = Math.floor(this.now() / HOUR_MS);
    const row = this.rowOf(waiting, { conversation, hour, host, port, type, folder: '' });
    if (row === null) return;
    row.requests += 1;
    row.bytes += bytes;
    row.unreadBytes += unreadBytes;
    const most = [...found].sort(([, a], [, b]) => b - a);
    for (const [index, [folder, of]] of most.entries()) {
      row.workspaceBytes += of;
      if (index >= MAX_FOLDERS) continue;
      const { host: place, port: at, type: kind } = row;
      const part = this.rowOf(waiting, { conversation, hour, host: place, port: at, type: kind, folder });
      // Past the bound a row is that of all others: it has its share already.
      if (part?.folder === folder) part.workspaceBytes += of;
    }
  }

  /** Sends what was counted until now. Never fails: what is not answered stays. */
  send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  /** Sends what is left, for at most 2 s. */
  async close(): Promise<void> {
    clearInterval(this.timer);
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
    for (const [org, waiting] of [...this.orgs]) {
      while (waiting.sent !== null || waiting.rows.size > 0) {
        waiting.sent ??= this.batchOf(org, waiting);
        try {
          await this.options.client.countBodies(waiting.sent);
        } catch (err) {
          if (!this.isAway)
            this.options.logger.warn({ err, org_id: org }, 'counts of bodies were not taken, will be sent again');
          this.isAway = true;
          // The others come first the next time: what is wrong may be about this one alone.
          this.orgs.delete(org);
          this.orgs.set(org, waiting);
          return;
        }
        this.waiting -= waiting.sent.rows.length;
        waiting.sent = null;
      }
      this.orgs.delete(org);
    }
    this.isAway = false;
  }

  private batchOf(org: string, { rows, counts }: Waiting): EgressBodyBatch {
    const taken = [...rows].slice(0, MAX_BODY_ROWS);
    for (const [key] of taken) rows.delete(key);
    if (rows.size === 0) counts.clear();
    return { org, source: this.options.source, seq: ++this.seq, rows: taken.map(([, row]) => row) };
  }

  private waitingOf(org: string): Waiting {
    const known = this.orgs.get(org);
    if (known !== undefined) return known;
    const waiting: Waiting = { rows: new Map(), counts: new Map(), sent: null };
    this.orgs.set(org, waiting);
    return waiting;
  }

  /** The row itself, or that of all others where the conversation has too many; `null` where too many wait. */
  private rowOf(waiting: Waiting, of: Omit<Row, keyof Count>): Row | null {
    const { rows, counts } = waiting;
    const { conversation, hour } = of;
    const key = keyOf(of);
    const known = rows.get(key);
    if (known !== undefined) return known;
    const count = counts.get(conversation) ?? 0;
    const others = { conversation, hour, host: OTHER_HOSTS, port: 0, type: OTHER_TYPE, folder: '' };
    if (count >= MAX_CONVERSATION_BODY_ROWS && key !== keyOf(others)) return this.rowOf(waiting, others);
    if (this.waiting >= MAX_WAITING) return null;
    const row: Row = { ...of, requests: 0, bytes: 0, workspaceBytes: 0, unreadBytes: 0 };
    rows.set(key, row);
    counts.set(conversation, count + 1);
    this.waiting += 1;
    return row;
  }
}

const keyOf = ({ conversation, hour, host, port, type, folder }: Omit<Row, keyof Count>): string =>
  JSON.stringify([conversation, hour, host, port, type, folder]);

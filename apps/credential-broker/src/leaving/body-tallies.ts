import type { BrokerLine } from '@slipway/contracts/credentials';
import {
  type EgressBodyBatch,
  type EgressBodyTally,
  MAX_BODY_ROWS,
  MAX_CONVERSATION_BODY_ROWS,
  OTHER_HOSTS,
  OTHER_TYPE,
} from '@slipway/contracts/sandboxes';
import { CountedBatches } from '@slipway/service';
import type { Logger } from '@slipway/telemetry';
import type { BodyCounts } from './body-counts.js';

const HOUR_MS = 3_600_000;
/** Folders of one body that are counted by themselves. */
const MAX_FOLDERS = 10;

type Count = Pick<EgressBodyTally, 'requests' | 'bytes' | 'workspaceBytes' | 'unreadBytes'>;
type Row = Omit<EgressBodyTally, keyof Count> & { -readonly [K in keyof Count]: Count[K] };

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
  private readonly batches: CountedBatches<Row>;
  private readonly now: () => number;
  /** Rows of a conversation, by organization. */
  private readonly counts = new Map<string, Map<string, number>>();

  constructor({ client, source, logger, now = Date.now }: BodyTalliesOptions) {
    this.now = now;
    this.batches = new CountedBatches({
      send: (batch: EgressBodyBatch) => client.countBodies(batch),
      source,
      maxRows: MAX_BODY_ROWS,
      what: 'bodies',
      logger,
      emptied: (org) => this.counts.delete(org),
    });
  }

  add({ org, conversation, host, port }: BrokerLine, { type, bytes, unreadBytes, found }: BodyCounts): void {
    const hour = Math.floor(this.now() / HOUR_MS);
    const row = this.rowOf(org, { conversation, hour, host, port, type, folder: '' });
    if (row === null) return;
    row.requests += 1;
    row.bytes += bytes;
    row.unreadBytes += unreadBytes;
    const most = [...found].sort(([, a], [, b]) => b - a);
    for (const [index, [folder, of]] of most.entries()) {
      row.workspaceBytes += of;
      if (index >= MAX_FOLDERS) continue;
      const { host: place, port: at, type: kind } = row;
      const part = this.rowOf(org, { conversation, hour, host: place, port: at, type: kind, folder });
      // Past the bound a row is that of all others: it has its share already.
      if (part?.folder === folder) part.workspaceBytes += of;
    }
  }

  /** Sends what was counted until now. Never fails: what is not answered stays. */
  send(): Promise<void> {
    return this.batches.send();
  }

  /** Sends what is left, for at most 2 s. */
  close(): Promise<void> {
    return this.batches.close();
  }

  /** The row itself, or that of all others where the conversation has too many; `null` where too many wait. */
  private rowOf(org: string, of: Omit<Row, keyof Count>): Row | null {
    const { conversation, hour } = of;
    const counts = this.counts.get(org) ?? new Map<string, number>();
    this.counts.set(org, counts);
    const count = counts.get(conversation) ?? 0;
    const others = { conversation, hour, host: OTHER_HOSTS, port: 0, type: OTHER_TYPE, folder: '' };
    // What has a row goes on with it.
    const most = count >= MAX_CONVERSATION_BODY_ROWS && keyOf(of) !== keyOf(others) ? 0 : undefined;
    const made = (): Row => {
      counts.set(conversation, count + 1);
      return { ...of, requests: 0, bytes: 0, workspaceBytes: 0, unreadBytes: 0 };
    };
    return this.batches.row(org, keyOf(of), made, most) ?? (most === 0 ? this.rowOf(org, others) : null);
  }
}

const keyOf = ({ conversation, hour, host, port, type, folder }: Omit<Row, keyof Count>): string =>
  JSON.stringify([conversation, hour, host, port, type, folder]);

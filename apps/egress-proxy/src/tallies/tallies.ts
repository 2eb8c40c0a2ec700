import {
  type EgressTally,
  type EgressTallyBatch,
  LET_THROUGH,
  MAX_TALLY_HOSTS,
  MAX_TALLY_ROWS,
  OTHER_HOSTS,
} from '@slipway/contracts/sandboxes';
import { CountedBatches, MAX_WAITING_ROWS } from '@slipway/service';
import type { Logger } from '@slipway/telemetry';
import type { Destination } from '../admission/destination.js';
import type { ControlClient } from '../control/control-client.js';
import type { Line } from '../lines/line.js';

const HOUR_MS = 3_600_000;

type Bytes = Pick<EgressTally, 'bytesOut' | 'bytesIn'>;
type Count = Pick<EgressTally, 'connections' | 'bytesOut' | 'bytesIn'>;
/** What a count is about, without the hour. */
type What = Pick<EgressTally, 'verdict' | 'rule' | 'listed'>;
/** A row while it is added to. */
type Row = Omit<EgressTally, keyof Count> & { -readonly [K in keyof Count]: Count[K] };

export interface TalliesOptions {
  readonly client: Pick<ControlClient, 'count'>;
  /** What is open. */
  readonly lines: Iterable<Line>;
  /** Name of this process among all that count; a UUID. */
  readonly source: string;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Counts what sandboxes send, for app-server: connections as they begin or are refused, bytes as they flow. */
export class Tallies {
  private readonly batches: CountedBatches<Row>;
  private readonly now: () => number;
  /** What of an open connection is counted already. */
  private readonly counted = new WeakMap<Line, Bytes>();
  /** Hosts with rows of their own, by conversation and hour, by organization. */
  private readonly hosts = new Map<string, Map<string, Set<string>>>();

  constructor({ client, lines, source, logger, now = Date.now }: TalliesOptions) {
    this.now = now;
    this.batches = new CountedBatches({
      send: (batch: EgressTallyBatch) => client.count(batch),
      source,
      maxRows: MAX_TALLY_ROWS,
      what: 'traffic',
      logger,
      beforeSend: () => {
        for (const line of lines) this.carried(line);
      },
      emptied: (org) => this.hosts.delete(org),
    });
  }

  /** A connection that was let through. What was written on it until now is not the sandbox's. */
  begun(line: Line): void {
    this.counted.set(line, bytesOf(line));
    this.add(line, whatOf(line), { connections: 1, bytesOut: 0, bytesIn: 0 });
  }

  refused(of: Pick<Line, 'claims' | 'destination'>, verdict: string, listed: boolean): void {
    this.add(of, { verdict, rule: '', listed }, { connections: 1, bytesOut: 0, bytesIn: 0 });
  }

  /** Counts what a connection has carried since it was last counted. */
  carried(line: Line): void {
    const before = this.counted.get(line);
    if (before === undefined) return;
    const now = bytesOf(line);
    const bytesOut = now.bytesOut - before.bytesOut;
    const bytesIn = now.bytesIn - before.bytesIn;
    if (bytesOut + bytesIn === 0) return;
    this.counted.set(line, now);
    this.add(line, whatOf(line), { connections: 0, bytesOut, bytesIn });
  }

  /** Sends what was counted until now. Never fails: what is not answered stays. */
  send(): Promise<void> {
    return this.batches.send();
  }

  /** Sends what is left, for at most 2 s. */
  close(): Promise<void> {
    return this.batches.close();
  }

  private add({ claims, destination }: Pick<Line, 'claims' | 'destination'>, what: What, count: Count): void {
    const { conversation, org } = claims;
    if (conversation === undefined) return;
    const hour = Math.floor(this.now() / HOUR_MS);
    const place = this.placeOf(org, { conversation, hour }, destination);
    const row =
      this.rowOf(org, { conversation, hour, ...place, ...what }) ??
      this.rowOf(org, { conversation, hour, ...OTHERS, ...what });
    if (row === null) {
      this.batches.lose(count.connections);
      return;
    }
    row.connections += count.connections;
    row.bytesOut += count.bytesOut;
    row.bytesIn += count.bytesIn;
  }

  /** The host itself, or all others where the conversation has reached too many within the hour. */
  private placeOf(
    org: string,
    { conversation, hour }: Pick<Row, 'conversation' | 'hour'>,
    destination: Destination,
  ): Destination {
    const hosts = this.hosts.get(org) ?? new Map<string, Set<string>>();
    this.hosts.set(org, hosts);
    const key = `${conversation} ${hour}`;
    const place = `${destination.host} ${destination.port}`;
    const known = hosts.get(key);
    if (known?.has(place) === true) return destination;
    if ((known?.size ?? 0) >= MAX_TALLY_HOSTS || this.batches.isFull) return OTHERS;
    if (known === undefined) hosts.set(key, new Set([place]));
    else known.add(place);
    return destination;
  }

  /** @returns `null` where too many rows wait; then only `OTHER_HOSTS` of as many conversations again get one. */
  private rowOf(org: string, of: Omit<Row, keyof Count>): Row | null {
    const { conversation, hour, host, port, verdict, rule, listed } = of;
    const key = `${conversation} ${hour} ${host} ${port} ${verdict} ${rule} ${listed}`;
    const most = host === OTHER_HOSTS ? 2 * MAX_WAITING_ROWS : MAX_WAITING_ROWS;
    return this.batches.row(org, key, () => ({ ...of, connections: 0, bytesOut: 0, bytesIn: 0 }), most);
  }
}

const OTHERS: Destination = { host: OTHER_HOSTS, port: 0 };

function whatOf({ admitted }: Line): What {
  return { verdict: LET_THROUGH, rule: admitted?.rule ?? '', listed: admitted?.listed ?? true };
}

function bytesOf({ socket }: Line): Bytes {
  return { bytesOut: socket.bytesWritten, bytesIn: socket.bytesRead };
}

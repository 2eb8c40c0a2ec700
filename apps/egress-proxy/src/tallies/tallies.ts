import {
  type EgressClaims,
  type EgressTally,
  type EgressTallyBatch,
  LET_THROUGH,
  MAX_TALLY_HOSTS,
  MAX_TALLY_ROWS,
  OTHER_HOSTS,
} from '@slipway/contracts/sandboxes';
import type { Logger } from '@slipway/telemetry';
import type { Destination } from '../admission/destination.js';
import type { ControlClient } from '../control/control-client.js';
import type { Line } from '../lines/line.js';

/** How often what was counted is sent. Milliseconds. */
const SEND_MS = 5_000;
/** Longest wait for app-server to take the last counts when this process ends. Milliseconds. */
const LAST_MS = 2_000;
/** Rows that wait for app-server; past these no host gets a row of its own. */
const MAX_WAITING = 20_000;
const HOUR_MS = 3_600_000;

type Bytes = Pick<EgressTally, 'bytesOut' | 'bytesIn'>;
type Count = Pick<EgressTally, 'connections' | 'bytesOut' | 'bytesIn'>;
/** What a count is about, without the hour. */
type What = Pick<EgressTally, 'verdict' | 'rule' | 'listed'>;
/** A row while it is added to. */
type Row = Omit<EgressTally, keyof Count> & { -readonly [K in keyof Count]: Count[K] };

/** What waits to be sent of one organization. */
interface Waiting {
  readonly rows: Map<string, Row>;
  /** Hosts with rows of their own, by conversation and hour. */
  readonly hosts: Map<string, Set<string>>;
  /** Was sent and not answered: app-server may have counted it, so it is sent again as it is. */
  sent: EgressTallyBatch | null;
}

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

/**
 * Counts what sandboxes send, for app-server: connections as they begin or are refused, bytes as they flow. Each batch
 * is sent until it is answered, and the next of its organization only then; so the number of a batch says whether it
 * was counted. What was counted in the last 5 s is lost with a process that is killed.
 */
export class Tallies {
  private readonly orgs = new Map<string, Waiting>();
  /** What of an open connection is counted already. */
  private readonly counted = new WeakMap<Line, Bytes>();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;
  private waiting = 0;
  private lost = 0;
  private seq = 0;
  private sending: Promise<void> | null = null;
  /** The last batch was not answered, and the log says so already. */
  private isAway = false;

  constructor(private readonly options: TalliesOptions) {
    this.now = options.now ?? Date.now;
    this.timer = setInterval(() => void this.send(), SEND_MS).unref();
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
    for (const line of this.options.lines) this.carried(line);
    this.sending ??= this.sendAll().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  /** Sends what is left, for at most 2 s. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    // What is on its way now does not have the last bytes.
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
    const { client, logger } = this.options;
    for (const [org, waiting] of [...this.orgs])
      while (waiting.sent !== null || waiting.rows.size > 0) {
        waiting.sent ??= this.batchOf(org, waiting);
        try {
          await client.count(waiting.sent);
        } catch (err) {
          if (!this.isAway) logger.warn({ err, org_id: org }, 'counts of traffic were not taken, will be sent again');
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
    if (this.lost > 0) logger.warn({ connections: this.lost }, 'connections were not counted: too many counts waited');
    this.lost = 0;
  }

  private batchOf(org: string, { rows, hosts }: Waiting): EgressTallyBatch {
    const taken = [...rows].slice(0, MAX_TALLY_ROWS);
    for (const [key] of taken) rows.delete(key);
    if (rows.size === 0) hosts.clear();
    return { org, source: this.options.source, seq: ++this.seq, rows: taken.map(([, row]) => row) };
  }

  private add({ claims, destination }: Pick<Line, 'claims' | 'destination'>, what: What, count: Count): void {
    const { conversation } = claims;
    if (conversation === undefined) return;
    const hour = Math.floor(this.now() / HOUR_MS);
    const waiting = this.waitingOf(claims);
    const row =
      this.rowOf(waiting, {
        conversation,
        hour,
        ...this.placeOf(waiting, { conversation, hour }, destination),
        ...what,
      }) ?? this.rowOf(waiting, { conversation, hour, ...OTHERS, ...what });
    if (row === null) {
      this.lost += count.connections;
      return;
    }
    row.connections += count.connections;
    row.bytesOut += count.bytesOut;
    row.bytesIn += count.bytesIn;
  }

  private waitingOf({ org }: EgressClaims): Waiting {
    const known = this.orgs.get(org);
    if (known !== undefined) return known;
    const waiting: Waiting = { rows: new Map(), hosts: new Map(), sent: null };
    this.orgs.set(org, waiting);
    return waiting;
  }

  /** The host itself, or all others where the conversation has reached too many within the hour. */
  private placeOf(
    { hosts }: Waiting,
    { conversation, hour }: Pick<Row, 'conversation' | 'hour'>,
    destination: Destination,
  ): Destination {
    const key = `${conversation} ${hour}`;
    const place = `${destination.host} ${destination.port}`;
    const known = hosts.get(key);
    if (known?.has(place) === true) return destination;
    if ((known?.size ?? 0) >= MAX_TALLY_HOSTS || this.waiting >= MAX_WAITING) return OTHERS;
    if (known === undefined) hosts.set(key, new Set([place]));
    else known.add(place);
    return destination;
  }

  /** @returns `null` where too many rows wait; then only `OTHER_HOSTS` of as many conversations again get one. */
  private rowOf({ rows }: Waiting, of: Omit<Row, keyof Count>): Row | null {
    const { conversation, hour, host, port, verdict, rule, listed } = of;
    const key = `${conversation} ${hour} ${host} ${port} ${verdict} ${rule} ${listed}`;
    const known = rows.get(key);
    if (known !== undefined) return known;
    if (this.waiting >= (host === OTHER_HOSTS ? 2 * MAX_WAITING : MAX_WAITING)) return null;
    const row: Row = { conversation, hour, host, port, verdict, rule, listed, connections: 0, bytesOut: 0, bytesIn: 0 };
    rows.set(key, row);
    this.waiting += 1;
    return row;
  }
}

const OTHERS: Destination = { host: OTHER_HOSTS, port: 0 };

function whatOf({ admitted }: Line): What {
  return { verdict: LET_THROUGH, rule: admitted?.rule ?? '', listed: admitted?.listed ?? true };
}

function bytesOf({ socket }: Line): Bytes {
  return { bytesOut: socket.bytesWritten, bytesIn: socket.bytesRead };
}

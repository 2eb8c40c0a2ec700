import {
  type BrokerLine,
  type CredentialTally,
  type CredentialTallyBatch,
  MAX_PLACE_WORDS,
  MAX_USE_ROWS,
  type Place,
  wordsOfPlace,
} from '@slipway/contracts/credentials';
import type { Logger } from '@slipway/telemetry';
import type { ControlClient } from './control-client.js';

/** How often what was counted is sent. Milliseconds. */
const SEND_MS = 5_000;
/** Longest wait for app-server to take the last counts when this process ends. Milliseconds. */
const LAST_MS = 2_000;
/** Rows that wait for app-server; past these no use is counted. */
const MAX_WAITING = 20_000;
const DAY_MS = 86_400_000;

type Row = { -readonly [Key in keyof CredentialTally]: CredentialTally[Key] };

/** What waits to be sent of one organization. */
interface Waiting {
  readonly rows: Map<string, Row>;
  /** Was sent and not answered: app-server may have counted it, so it is sent again as it is. */
  sent: CredentialTallyBatch | null;
}

export interface UseTalliesOptions {
  readonly client: Pick<ControlClient, 'tallies'>;
  /** Name of this process among all that count; a UUID. */
  readonly source: string;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Counts uses of credentials by conversation and place, for app-server. Each batch is sent until it is answered, and
 * the next of its organization only then; so the number of a batch says whether it was counted. What was counted in
 * the last 5 s is lost with a process that is killed.
 */
export class UseTallies {
  private readonly orgs = new Map<string, Waiting>();
  private readonly timer: NodeJS.Timeout;
  private readonly now: () => number;
  private waiting = 0;
  private lost = 0;
  private seq = 0;
  private sending: Promise<void> | null = null;
  /** The last batch was not answered, and the log says so already. */
  private isAway = false;

  constructor(private readonly options: UseTalliesOptions) {
    this.now = options.now ?? Date.now;
    this.timer = setInterval(() => void this.send(), SEND_MS).unref();
  }

  /** A request that is passed on with these credentials. */
  used({ org, conversation }: BrokerLine, credentials: readonly { readonly id: string }[], place: Place): void {
    const day = Math.floor(this.now() / DAY_MS);
    const words = labelOf(place);
    const known = this.orgs.get(org);
    const waiting: Waiting = known ?? { rows: new Map(), sent: null };
    if (known === undefined) this.orgs.set(org, waiting);
    for (const { id } of credentials) {
      const key = JSON.stringify([conversation, id, day, words]);
      const row = waiting.rows.get(key);
      if (row !== undefined) row.uses += 1;
      else if (this.waiting >= MAX_WAITING) this.lost += 1;
      else {
        this.waiting += 1;
        waiting.rows.set(key, { conversation, credential: id, place: words, day, uses: 1 });
      }
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
    const { client, logger } = this.options;
    for (const [org, waiting] of [...this.orgs])
      while (waiting.sent !== null || waiting.rows.size > 0) {
        waiting.sent ??= this.batchOf(org, waiting);
        try {
          await client.tallies(waiting.sent);
        } catch (err) {
          if (!this.isAway) logger.warn({ err, org_id: org }, 'counts of uses not taken, will retry');
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
    if (this.lost > 0) logger.warn({ uses: this.lost }, 'uses not counted, too many counts wait');
    this.lost = 0;
  }

  private batchOf(org: string, { rows }: Waiting): CredentialTallyBatch {
    const taken = [...rows].slice(0, MAX_USE_ROWS);
    for (const [key] of taken) rows.delete(key);
    this.seq += 1;
    return { org, source: this.options.source, seq: this.seq, rows: taken.map(([, row]) => row) };
  }
}

function labelOf(place: Place): string {
  const { host, port } = place;
  const words = `${host}${port === 443 ? '' : `:${port}`} ${wordsOfPlace(place)}`;
  return words.length <= MAX_PLACE_WORDS ? words : `${words.slice(0, MAX_PLACE_WORDS - 1)}…`;
}

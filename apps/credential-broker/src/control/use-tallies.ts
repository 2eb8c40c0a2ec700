import {
  type BrokerLine,
  type CredentialTally,
  type CredentialTallyBatch,
  MAX_PLACE_WORDS,
  MAX_USE_ROWS,
  type Place,
  wordsOfPlace,
} from '@slipway/contracts/credentials';
import { CountedBatches } from '@slipway/service';
import type { Logger } from '@slipway/telemetry';
import type { ControlClient } from './control-client.js';

const DAY_MS = 86_400_000;

type Row = { -readonly [Key in keyof CredentialTally]: CredentialTally[Key] };

export interface UseTalliesOptions {
  readonly client: Pick<ControlClient, 'tallies'>;
  /** Name of this process among all that count; a UUID. */
  readonly source: string;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Counts uses of credentials by conversation and place, for app-server. */
export class UseTallies {
  private readonly batches: CountedBatches<Row>;
  private readonly now: () => number;

  constructor({ client, source, logger, now = Date.now }: UseTalliesOptions) {
    this.now = now;
    const send = (batch: CredentialTallyBatch): Promise<void> => client.tallies(batch);
    this.batches = new CountedBatches({ send, source, maxRows: MAX_USE_ROWS, what: 'uses', logger });
  }

  /** A request that is passed on with these credentials. */
  used({ org, conversation }: BrokerLine, credentials: readonly { readonly id: string }[], place: Place): void {
    const day = Math.floor(this.now() / DAY_MS);
    const words = labelOf(place);
    for (const { id } of credentials) {
      const key = JSON.stringify([conversation, id, day, words]);
      const made = (): Row => ({ conversation, credential: id, place: words, day, uses: 0 });
      const row = this.batches.row(org, key, made);
      if (row === null) this.batches.lose(1);
      else row.uses += 1;
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
}

function labelOf(place: Place): string {
  const { host, port } = place;
  const words = `${host}${port === 443 ? '' : `:${port}`} ${wordsOfPlace(place)}`;
  return words.length <= MAX_PLACE_WORDS ? words : `${words.slice(0, MAX_PLACE_WORDS - 1)}…`;
}

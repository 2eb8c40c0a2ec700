import type { PoolClient, SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

const CHANNEL = 'slipway_gateway';
const RETRY_MS = 500;

/** What replicas and Postgres tell each other. */
export interface GatewayLineListener {
  /** Somebody needs what is not used of an account. */
  recalled(account: number, round: number): void;
  /** Something of an account was given back. */
  freed(account: number): void;
  /** What limits an organization's keys is to be looked at again. */
  limitsChanged(orgId: string): void;
  /** The line is there, or not: what was said while it was not is not said again. */
  listening(on: boolean): void;
}

/** One connection that listens, made again by itself when it breaks. Never throws. */
export class GatewayLine {
  private client: PoolClient | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(
    private readonly pool: SqlPool,
    private readonly listener: GatewayLineListener,
    private readonly logger: Logger,
  ) {}

  async open(): Promise<void> {
    let client: PoolClient | null = null;
    let lost = false;
    const lose = (error?: unknown): void => {
      if (lost || this.closed) return;
      lost = true;
      if (this.client === client) this.client = null;
      client?.release(true);
      this.listener.listening(false);
      this.logger.warn({ err: error }, 'the line between replicas broke; until it is back every call near a budget asks the database');
      this.timer = setTimeout(() => void this.open(), RETRY_MS);
    };
    try {
      client = await this.pool.connect();
      client.on('error', lose);
      client.on('end', () => lose());
      client.on('notification', ({ payload }) => this.heard(payload ?? ''));
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.closed) return void client.release(true);
      this.client = client;
      this.listener.listening(true);
    } catch (error) {
      lose(error);
    }
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    const { client } = this;
    this.client = null;
    client?.removeAllListeners('notification');
    client?.release(true);
  }

  private heard(payload: string): void {
    const [what, subject = '', round = ''] = payload.split(' ');
    if (what === 'recall') this.listener.recalled(Number(subject), Number(round));
    else if (what === 'freed') this.listener.freed(Number(subject));
    else if (what === 'limits') this.listener.limitsChanged(subject);
  }
}

import type { PoolClient, SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

const CHANNEL = 'slipway_sandbox_access';
const RETRY_MS = 1_000;

/** Hears within milliseconds that some grant has changed. Only makes faster what the looks of `GrantWatch` find out anyway: it may be away, and nothing is wrong. */
export class ChangeListener {
  private client: PoolClient | null = null;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(
    private readonly pool: SqlPool,
    private readonly heard: () => void,
    private readonly logger: Logger,
  ) {
    void this.connect();
  }

  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.client?.release(true);
    this.client = null;
  }

  private async connect(): Promise<void> {
    let client: PoolClient | null = null;
    let lost = false;
    const lose = (error?: unknown): void => {
      if (lost) return;
      lost = true;
      if (this.client === client) this.client = null;
      if (this.closed) return;
      this.logger.warn({ err: error }, 'the connection that hears of changes was lost; making it again');
      client?.release(true);
      this.timer = setTimeout(() => void this.connect(), RETRY_MS);
    };
    try {
      client = await this.pool.connect();
      client.on('error', lose);
      client.on('end', () => lose());
      client.on('notification', this.heard);
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.closed) return void client.release(true);
      this.client = client;
      // What changed while nobody listened.
      this.heard();
    } catch (error) {
      lose(error);
    }
  }
}

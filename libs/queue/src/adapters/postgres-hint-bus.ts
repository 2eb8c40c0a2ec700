import type { Hint } from '@slipway/contracts';
import type { Logger } from '@slipway/telemetry';
import pg from 'pg';
import type { HintBus } from '../hint-bus.js';
import { packHints, unpackHints } from '../hint-frames.js';
import { HintListeners } from '../hint-listeners.js';

const CHANNEL = 'slipway_hints';
/** NOTIFY takes 7,999 bytes. */
const MAX_FRAME_BYTES = 7_900;
/** Hints that wait for the connection; older ones are dropped first. */
const MAX_WAITING = 2_000;
const RECONNECT_CAP_MS = 2_000;

/** NOTIFY and LISTEN on one connection of its own. Hints that come while one NOTIFY is under way go together in the next. */
export class PostgresHintBus implements HintBus {
  private readonly listeners: HintListeners;
  private client: pg.Client | null = null;
  private waiting: Hint[] = [];
  private sending = false;
  private failures = 0;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(private readonly options: { databaseUrl: string; applicationName: string; logger: Logger }) {
    this.listeners = new HintListeners(options.logger);
    void this.connect();
  }

  publish(hint: Hint): void {
    if (this.closed) return;
    this.waiting.push(hint);
    if (this.waiting.length > MAX_WAITING) this.waiting.splice(0, this.waiting.length - MAX_WAITING);
    if (!this.sending) void this.flush();
  }

  subscribe(listener: (hint: Hint) => void): () => void {
    return this.listeners.add(listener);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    const client = this.client;
    this.client = null;
    await client?.end().catch(() => {});
  }

  private async flush(): Promise<void> {
    this.sending = true;
    try {
      while (this.waiting.length > 0 && this.client !== null) {
        const frames = packHints(this.waiting.splice(0), MAX_FRAME_BYTES);
        await this.client.query({ name: 'notify', text: 'SELECT pg_notify($1, frame) FROM unnest($2::text[]) AS frame', values: [CHANNEL, frames] });
      }
    } catch {
      // The connection is gone; its own error event says so. These hints are lost, which the log makes good.
    } finally {
      this.sending = false;
    }
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.options.databaseUrl,
      application_name: `${this.options.applicationName}-hints`,
      connectionTimeoutMillis: 2_000,
      query_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    let lost = false;
    const lose = (error?: Error): void => {
      if (lost) return;
      lost = true;
      if (this.client === client) this.client = null;
      client.end().catch(() => {});
      if (this.closed) return;
      this.options.logger.warn({ err: error }, 'the hint connection was lost; making it again');
      this.timer = setTimeout(() => void this.connect(), Math.min(50 * 2 ** Math.min(this.failures, 10), RECONNECT_CAP_MS));
      this.failures += 1;
    };
    client.on('error', lose);
    client.on('end', () => lose());
    client.on('notification', (message) => {
      for (const hint of unpackHints(message.payload ?? '')) this.listeners.tell(hint);
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      if (this.closed || lost) return void client.end().catch(() => {});
      this.client = client;
      this.failures = 0;
      if (!this.sending) void this.flush();
    } catch (error) {
      lose(error as Error);
    }
  }
}

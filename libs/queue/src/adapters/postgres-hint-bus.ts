import type { Hint } from '@slipway/contracts/events';
import { listen, type PostgresSession, type SessionConnection } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import type { HintBus } from '../hint-bus.js';
import { packHints, unpackHints } from '../hint-frames.js';
import { HintListeners } from '../hint-listeners.js';

const CHANNEL = 'slipway_hints';
/** NOTIFY takes 7,999 bytes. */
const MAX_FRAME_BYTES = 7_900;
/** Hints that wait for the connection; older ones are dropped first. */
const MAX_WAITING = 2_000;

/**
 * NOTIFY and LISTEN on one connection of its own. Hints that come while one NOTIFY is under way go together in the
 * next.
 */
export class PostgresHintBus implements HintBus {
  private readonly listeners: HintListeners;
  private readonly session: PostgresSession;
  private connection: SessionConnection | null = null;
  private waiting: Hint[] = [];
  private sending = false;
  private closed = false;

  constructor({
    databaseUrl,
    applicationName,
    logger,
  }: { databaseUrl: string; applicationName: string; logger: Logger }) {
    this.listeners = new HintListeners(logger);
    this.session = listen({
      url: databaseUrl,
      applicationName: `${applicationName}-hints`,
      channel: CHANNEL,
      heard: (payload) => {
        for (const hint of unpackHints(payload)) this.listeners.tell(hint);
      },
      opened: (connection) => {
        this.connection = connection;
        this.listeners.opened();
        if (!this.sending) void this.flush();
      },
      lost: (error) => logger.warn({ err: error }, 'hint connection lost, reconnecting'),
    });
  }

  publish(hint: Hint): void {
    if (this.closed) return;
    this.waiting.push(hint);
    if (this.waiting.length > MAX_WAITING) this.waiting.splice(0, this.waiting.length - MAX_WAITING);
    if (!this.sending) void this.flush();
  }

  subscribe(listener: (hint: Hint) => void, missed?: () => void): () => void {
    return this.listeners.add(listener, missed);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.session.close();
  }

  private async flush(): Promise<void> {
    this.sending = true;
    try {
      while (this.waiting.length > 0 && this.connection?.lost.aborted === false) {
        const frames = packHints(this.waiting.splice(0), MAX_FRAME_BYTES);
        await this.connection.query({
          name: 'notify',
          text: 'SELECT pg_notify($1, frame) FROM unnest($2::text[]) AS frame',
          values: [CHANNEL, frames],
        });
      }
    } catch {
      // The connection is lost with these hints, which the log makes good.
    } finally {
      this.sending = false;
    }
  }
}

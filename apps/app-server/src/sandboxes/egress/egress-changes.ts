import type { ServerResponse } from 'node:http';
import type { EgressChange } from '@slipway/contracts/sandboxes';
import { listen } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/** How often a stream says that nothing has changed. Milliseconds; egress-proxy gives up one that is silent for 6 s. */
const BEAT_MS = 2_000;
/** Bytes that a proxy has not taken; more end its stream, and it reads everything anew. */
const MAX_BACKLOG = 1024 * 1024;

export interface EgressChangesOptions {
  readonly databaseUrl: string;
  readonly logger: Logger;
}

/**
 * Tells every egress-proxy at once whose rules have changed: `NOTIFY slipway_egress` of the database as lines of JSON.
 * Without the database there is no stream, so that no proxy takes silence for the absence of changes.
 */
export class EgressChanges {
  private readonly streams = new Map<ServerResponse, (change: EgressChange) => void>();
  private readonly session;
  private readonly beat: NodeJS.Timeout;
  private hears = false;

  constructor({ databaseUrl, logger }: EgressChangesOptions) {
    this.session = listen({
      url: databaseUrl,
      applicationName: 'app-server egress',
      channel: 'slipway_egress',
      heard: (org) => this.send({ org }),
      opened: () => {
        this.hears = true;
      },
      lost: (err) => {
        logger.warn({ err }, 'changes of egress rules are not heard, streams to egress-proxy ended');
        this.hears = false;
        this.endAll();
      },
    });
    this.beat = setInterval(() => this.send({}), BEAT_MS).unref();
  }

  /**
   * @param sign of a line with its number, so that none can be made, left out or said again on the way.
   * @returns false where changes are not heard now: the caller answers 503.
   */
  add(response: ServerResponse, sign: (text: string) => string): boolean {
    if (!this.hears) return false;
    response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
    let count = 0;
    const send = (change: EgressChange): void => {
      const text = JSON.stringify(change);
      response.write(`${sign(`${count} ${text}`)} ${text}\n`);
      count += 1;
    };
    this.streams.set(response, send);
    response.once('close', () => this.streams.delete(response));
    // Whoever reads it knows that from here on it hears all.
    send({});
    return true;
  }

  async close(): Promise<void> {
    clearInterval(this.beat);
    this.endAll();
    await this.session.close();
  }

  private send(change: EgressChange): void {
    for (const [response, send] of this.streams) {
      if (response.writableLength > MAX_BACKLOG) response.destroy();
      else send(change);
    }
  }

  private endAll(): void {
    for (const response of this.streams.keys()) response.destroy();
    this.streams.clear();
  }
}

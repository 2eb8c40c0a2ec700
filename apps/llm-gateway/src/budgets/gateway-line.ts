import { listen, type PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/** Messages between replicas and Postgres. */
export interface GatewayLineListener {
  /** A replica needs the unused part of an account. */
  recalled(account: number, round: number): void;
  /** Something of an account was given back. */
  freed(account: number): void;
  /** What limits an organization's keys is to be read again. */
  limitsChanged(orgId: string): void;
  /** A key is to be read again. */
  keyChanged(keyId: string): void;
  /** The line is there, or not: what was said while it was not is not said again. */
  listening(on: boolean): void;
}

/** One connection that listens, made again by itself when it breaks. Never throws. */
export class GatewayLine {
  private session: PostgresSession | null = null;

  constructor(
    private readonly pool: SqlPool,
    private readonly listener: GatewayLineListener,
    private readonly logger: Logger,
  ) {}

  /** Resolves after the first attempt, whether it listens then or not. */
  open(): Promise<void> {
    return new Promise((resolve) => {
      this.session = listen({
        ...sessionOf(this.pool, 'line'),
        channel: 'slipway_gateway',
        heard: (payload) => this.heard(payload),
        opened: () => {
          this.listener.listening(true);
          resolve();
        },
        lost: (error) => {
          this.listener.listening(false);
          this.logger.warn(
            { err: error },
            'connection between replicas lost, every call near a budget asks the database until it is back',
          );
          resolve();
        },
      });
    });
  }

  async close(): Promise<void> {
    await this.session?.close();
  }

  private heard(payload: string): void {
    const [what, subject = '', round = ''] = payload.split(' ');
    if (what === 'recall') this.listener.recalled(Number(subject), Number(round));
    else if (what === 'freed') this.listener.freed(Number(subject));
    else if (what === 'key') this.listener.keyChanged(subject);
    else if (what === 'limits') this.listener.limitsChanged(subject);
  }
}

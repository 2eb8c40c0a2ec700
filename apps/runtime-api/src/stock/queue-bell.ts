import type { SqlPool } from '@slipway/db/sql';

const CHANNEL = 'slipway_runtime';
/** After the connection broke. Milliseconds. */
const RECONNECT_MS = 1_000;

export interface QueueEvents {
  /** Somebody waits for the pool. */
  readonly wanted: (poolId: string) => void;
  /** Somebody who waited for the pool was bound. */
  readonly served: (poolId: string) => void;
}

/** Hears, over one connection, what other replicas do with the queues. A hint: while the connection is away nothing is heard, and nobody relies on it. */
export class QueueBell {
  private stopped = false;
  private hangUp: () => void = () => {};

  constructor(
    private readonly db: SqlPool,
    private readonly events: QueueEvents,
    private readonly onError: (error: unknown) => void,
  ) {}

  start(): void {
    void this.listen();
  }

  close(): void {
    this.stopped = true;
    this.hangUp();
  }

  private async listen(): Promise<void> {
    while (!this.stopped) {
      await this.listenOnce().catch((error: unknown) => {
        if (!this.stopped) this.onError(error);
      });
      if (this.stopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, RECONNECT_MS);
        this.hangUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  private async listenOnce(): Promise<void> {
    const client = await this.db.connect();
    try {
      const broken = new Promise<void>((resolve, reject) => {
        this.hangUp = resolve;
        client.on('error', reject);
        client.on('end', () => reject(new Error('the connection for notifications ended')));
      });
      // Observed below; until then it must not be an unhandled one.
      broken.catch(() => {});
      client.on('notification', ({ payload = '' }) => {
        const [what, poolId = ''] = payload.split(' ', 2);
        if (what === 'wanted' || what === 'served') this.events[what](poolId);
      });
      await client.query(`LISTEN ${CHANNEL}`);
      if (!this.stopped) await broken;
    } finally {
      // Never given to somebody else: it listens.
      client.release(true);
    }
  }
}

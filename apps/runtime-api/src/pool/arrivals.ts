import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { addArrivals } from './pool.queries.js';

/** How often they are written. Milliseconds. */
const WRITE_MS = 1_000;

/**
 * Counts the claims of this replica by pool, and writes them once a second, away from the claims. What it cannot write
 * it forgets: the forecast is then a little low.
 */
export class Arrivals {
  private counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: SqlPool,
    private readonly logger: Logger,
  ) {}

  count(poolId: string): void {
    this.counts.set(poolId, (this.counts.get(poolId) ?? 0) + 1);
    this.timer ??= setTimeout(() => void this.write(), WRITE_MS).unref();
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private async write(): Promise<void> {
    const { counts } = this;
    this.counts = new Map();
    this.timer = undefined;
    await addArrivals(this.db, counts).catch((error: unknown) =>
      this.logger.debug({ err: error }, 'failed to write arrivals'),
    );
  }
}

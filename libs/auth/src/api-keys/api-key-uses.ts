import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';

interface Use {
  readonly at: Date;
  readonly address: string | null;
  readonly route: string;
}

/** How often uses are written. Milliseconds. */
const WRITE_MS = 2_000;
/** A key's last use is written no more often than this. Milliseconds. */
const EVERY_MS = 10_000;
/** Keys whose use is remembered at once; beyond that a use goes unnoted. */
const MAX_KEYS = 10_000;

/**
 * When each key was last used, where from and for what: noted off the request's path, all keys in one statement. A
 * crash loses at most ten seconds of it.
 */
export class ApiKeyUses {
  private readonly pending = new Map<string, Use>();
  private readonly writtenAt = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly pool: Pick<SqlPool, 'query'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => void this.write(), WRITE_MS);
    this.timer.unref();
  }

  note(keyId: string, address: string | null, route: string): void {
    if (this.pending.size >= MAX_KEYS && !this.pending.has(keyId)) return;
    this.pending.set(keyId, { at: this.clock.now(), address, route });
  }

  /** Writes what is due, one write at a time; what cannot be written is tried again with the next. Never rejects. */
  async write(all: 'all' | 'due' = 'due'): Promise<void> {
    await this.writing;
    this.writing = this.writeOnce(all).finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  /** Writes what is left and ends. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.write('all');
  }

  private async writeOnce(all: 'all' | 'due'): Promise<void> {
    const now = this.clock.now().getTime();
    for (const [keyId, at] of this.writtenAt) if (now - at >= EVERY_MS) this.writtenAt.delete(keyId);
    const due = [...this.pending].filter(([keyId]) => all === 'all' || !this.writtenAt.has(keyId));
    if (due.length === 0) return;
    for (const [keyId] of due) {
      this.pending.delete(keyId);
      this.writtenAt.set(keyId, now);
    }
    const uses = due.map(([id, { at, address, route }]) => ({ id, at: at.toISOString(), address, route }));
    try {
      await this.pool.query({
        name: 'note-api-key-uses',
        text: 'SELECT app.note_api_key_uses($1::jsonb)',
        values: [JSON.stringify(uses)],
      });
    } catch (error) {
      this.logger.warn({ err: error, keys: uses.length }, 'failed to write the last uses of API keys, will retry');
      for (const [keyId, use] of due) {
        if (!this.pending.has(keyId)) this.pending.set(keyId, use);
        this.writtenAt.delete(keyId);
      }
    }
  }
}

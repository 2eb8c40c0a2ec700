import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';

/** A session is written as seen at most once in this time, by all replicas together. Milliseconds. */
export const SEEN_EVERY_MS = 60_000;
/** Longest that a session waits for others to be written with. Milliseconds. */
const TOGETHER_MS = 1_000;
/** Sessions whose last write is remembered; one that is forgotten asks the database once more, which writes nothing. */
const REMEMBERED = 10_000;

/** When sessions were last used, written beside the requests that use them: many at once, never waited for. What cannot be written is left to the next minute. */
export class SeenSessions {
  private readonly written = new Map<string, number>();
  private readonly waiting = new Map<string, string | null>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly pool: SqlPool,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @param address where the request came from; `null` leaves the one before. */
  note(sessionId: string, address: string | null): void {
    const now = this.clock.now().getTime();
    if (this.closed || now - (this.written.get(sessionId) ?? Number.NEGATIVE_INFINITY) < SEEN_EVERY_MS) return;
    this.written.delete(sessionId);
    const oldest = this.written.size >= REMEMBERED ? this.written.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.written.delete(oldest.value);
    this.written.set(sessionId, now);
    this.waiting.set(sessionId, address);
    this.timer ??= setTimeout(() => void this.write(), TOGETHER_MS).unref();
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.write();
  }

  private async write(): Promise<void> {
    this.timer = undefined;
    if (this.waiting.size === 0) return;
    const seen = [...this.waiting];
    this.waiting.clear();
    await this.pool
      .query({
        name: 'see-sessions',
        text: `WITH seen AS (
                 UPDATE app.session s SET last_seen_at = $3, address = coalesce(w.address, s.address),
                   longest_idle_seconds = greatest(s.longest_idle_seconds, extract(epoch FROM $3::timestamptz - coalesce(s.last_seen_at, s.created_at))::int)
                 FROM unnest($1::text[], $2::text[]) w(id, address)
                 WHERE s.id = w.id AND (s.last_seen_at IS NULL OR s.last_seen_at <= $3::timestamptz - make_interval(secs => $4)) RETURNING s.user_id)
               UPDATE app.user_account u SET last_active_at = $3 FROM (SELECT DISTINCT user_id FROM seen) p WHERE u.id = p.user_id`,
        values: [seen.map(([id]) => id), seen.map(([, address]) => address), this.clock.now(), SEEN_EVERY_MS / 1000],
      })
      .catch((error: unknown) => this.logger.warn({ err: error, sessions: seen.length }, 'when sessions were last used could not be written'));
  }
}

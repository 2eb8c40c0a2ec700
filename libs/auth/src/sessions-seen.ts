import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';

/** A session is written as seen at most once in this time, by all replicas together. Milliseconds. */
export const SEEN_EVERY_MS = 60_000;
/** Longest that a session waits for others to be written with. Milliseconds. */
const TOGETHER_MS = 1_000;
/** Sessions whose last write is remembered; one that is forgotten asks the database once more, which writes nothing. */
const REMEMBERED = 10_000;

/**
 * When sessions were last used, written beside the requests that use them: many at once, never waited for. What cannot
 * be written is left to the next minute.
 */
export class SeenSessions {
  private readonly written = new Map<string, { readonly at: number; readonly refusesTracking: boolean | null }>();
  private readonly waiting = new Map<
    string,
    { readonly address: string | null; readonly refusesTracking: boolean | null }
  >();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly pool: SqlPool,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * @param address where the request came from; `null` leaves the one before.
   * @param refusesTracking whether the browser asks not to be tracked; `null` leaves what it said before.
   */
  note(sessionId: string, address: string | null, refusesTracking: boolean | null = null): void {
    const now = this.clock.now().getTime();
    const last = this.written.get(sessionId);
    // A browser that begins to refuse, or no longer does, is believed at once.
    const isNews = refusesTracking !== null && last !== undefined && last.refusesTracking !== refusesTracking;
    if (this.closed || (!isNews && now - (last?.at ?? Number.NEGATIVE_INFINITY) < SEEN_EVERY_MS)) return;
    this.written.delete(sessionId);
    const oldest = this.written.size >= REMEMBERED ? this.written.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.written.delete(oldest.value);
    this.written.set(sessionId, { at: now, refusesTracking });
    this.waiting.set(sessionId, { address, refusesTracking });
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
                 UPDATE app.session s SET last_seen_at = $3, address = coalesce(w.address, s.address), refuses_tracking = coalesce(w.refuses_tracking, s.refuses_tracking),
                   longest_idle_seconds = greatest(s.longest_idle_seconds, extract(epoch FROM $3::timestamptz - coalesce(s.last_seen_at, s.created_at))::int)
                 FROM unnest($1::text[], $2::text[], $5::boolean[]) w(id, address, refuses_tracking)
                 WHERE s.id = w.id AND (s.last_seen_at IS NULL OR s.last_seen_at <= $3::timestamptz - make_interval(secs => $4) OR s.refuses_tracking <> w.refuses_tracking) RETURNING s.user_id)
               UPDATE app.user_account u SET last_active_at = $3 FROM (SELECT DISTINCT user_id FROM seen) p WHERE u.id = p.user_id`,
        values: [
          seen.map(([id]) => id),
          seen.map(([, { address }]) => address),
          this.clock.now(),
          SEEN_EVERY_MS / 1000,
          seen.map(([, { refusesTracking }]) => refusesTracking),
        ],
      })
      .catch((error: unknown) =>
        this.logger.warn({ err: error, sessions: seen.length }, 'failed to write the last uses of sessions'),
      );
  }
}

import type { SqlPool } from '@slipway/db/sql';
import { Gauge, type Registry } from '@slipway/telemetry/http';

/** A round is written at most this often. Milliseconds; the leader makes some a second. */
const NOTE_MS = 5_000;
/** Without a round for so long there is no leader, or it hangs. Seconds; a lost leader is replaced within ten. */
const LATE_SECONDS = 30;

/**
 * When any replica last went through all pools as their leader (`runtime.lead_run`): the leader writes it, every
 * replica answers for it.
 */
export class LeadRun {
  private notedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly db: SqlPool,
    /** Seconds that this process runs: a new installation gets as long as a lead may be missing. */
    private readonly uptime: () => number = () => process.uptime(),
  ) {}

  async completed(): Promise<void> {
    const now = performance.now();
    if (now - this.notedAt < NOTE_MS) return;
    await this.db.query(
      `INSERT INTO runtime.lead_run (name, completed_at) VALUES ('pools', now())
       ON CONFLICT (name) DO UPDATE SET completed_at = greatest(runtime.lead_run.completed_at, excluded.completed_at)`,
    );
    this.notedAt = now;
  }

  /** Seconds since the last round, by the database's clock; at most, since this process began. */
  async age(): Promise<number> {
    const { rows } = await this.db.query<{ age: number }>(
      `SELECT greatest(0, extract(epoch FROM now() - completed_at))::float8 AS age FROM runtime.lead_run WHERE name = 'pools'`,
    );
    return Math.min(rows[0]?.age ?? Number.POSITIVE_INFINITY, this.uptime());
  }

  /** What is wrong, in a sentence; `null`: nothing. */
  async problem(): Promise<string | null> {
    const age = await this.age();
    return age > LATE_SECONDS
      ? `no replica has kept the pools for ${Math.round(age)} s: what is warm is given out, and nothing is made, repaired or removed`
      : null;
  }

  /** The same in every replica. Without a value while the database does not answer. */
  expose(metrics: Registry): void {
    const gauge: Gauge = new Gauge({
      name: 'pool_lead_age_seconds',
      help: 'Time since any replica last completed a pass over all pools as leader; at most the uptime of this process',
      registers: [metrics],
      collect: async () => {
        const age = await this.age().catch(() => null);
        if (age === null) gauge.remove();
        else gauge.set(age);
      },
    });
  }
}

import type { Columns, SqlPool } from '@slipway/db/sql';
import { Gauge, type Registry } from '@slipway/telemetry/http';

/**
 * Every sweep, and how long no worker may have completed it before all workers say that they are not ready. Seconds;
 * several times its own interval.
 */
export const SWEEPS = {
  outbox: 30,
  recovery: 30,
  organizations: 60,
  usage: 60,
  spending: 60,
  idle: 150,
  storage: 300,
  missed: 1_200,
  hooks: 1_200,
  outcomes: 1_200,
  credentials: 300,
  retention: 1_800,
  checkpoints: 3_600,
} as const;
export type SweepName = keyof typeof SWEEPS;

/** A run is written at most this often for each sweep. Milliseconds. */
const NOTE_MS = 5_000;

/** When any worker last completed each sweep (`app.sweep_run`): the leader writes it, every worker answers for it. */
export class SweepRuns {
  private readonly noted = new Map<SweepName, number>();

  constructor(
    private readonly pool: SqlPool,
    /** Seconds that this process runs: a new installation gets as long as a sweep may take. */
    private readonly uptime: () => number = () => process.uptime(),
  ) {}

  async completed(name: SweepName): Promise<void> {
    const now = performance.now();
    if (now - (this.noted.get(name) ?? Number.NEGATIVE_INFINITY) < NOTE_MS) return;
    await this.pool.query(
      `INSERT INTO app.sweep_run (name, completed_at) VALUES ($1, now())
       ON CONFLICT (name) DO UPDATE SET completed_at = greatest(app.sweep_run.completed_at, excluded.completed_at)`,
      [name],
    );
    this.noted.set(name, now);
  }

  /**
   * Seconds since each sweep was completed, by the database's clock; of one that never was, and at most, since this
   * process began.
   */
  async ages(): Promise<ReadonlyMap<SweepName, number>> {
    const { rows } = await this.pool.query<Columns<'app.sweep_run', 'name'> & { age: number }>(
      'SELECT name, greatest(0, extract(epoch FROM now() - completed_at))::float8 AS age FROM app.sweep_run',
    );
    const uptime = this.uptime();
    const names = Object.keys(SWEEPS) as SweepName[];
    return new Map(names.map((name) => [name, Math.min(rows.find((row) => row.name === name)?.age ?? uptime, uptime)]));
  }

  /** @throws Error that names every sweep that no worker has completed within its bound. */
  async expectRecent(): Promise<void> {
    const late = [...(await this.ages())].filter(([name, age]) => age > SWEEPS[name]);
    if (late.length === 0) return;
    throw new Error(
      `no worker has completed ${late.map(([name, age]) => `the sweep ${name} for ${Math.round(age)} s`).join(', ')}`,
    );
  }

  /** A gauge for each sweep, the same in every worker. Without a value while the database does not answer. */
  expose(metrics: Registry): void {
    const gauge: Gauge = new Gauge({
      name: 'sweep_age_seconds',
      help: 'Time since any worker last completed the sweep; at most the uptime of this process',
      labelNames: ['sweep'],
      registers: [metrics],
      collect: async () => {
        gauge.reset();
        const ages = await this.ages().catch(() => new Map<SweepName, number>());
        for (const [sweep, age] of ages) gauge.set({ sweep }, age);
      },
    });
  }
}

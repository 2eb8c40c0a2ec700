import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import { type BindOutcome, type BindRequest, bindBatch } from '../claims/bind.queries.js';
import type { LeasedSlot } from '../claims/lease.queries.js';

/** The tables of claims on a real Postgres, with slots that are rows only: for what the SQL promises by itself. */
export class ClaimTables {
  private made = 0;
  /**
   * What is ready was warmed after this in the order in which it was made, also when the machine's clock is set back
   * meanwhile.
   */
  private readonly began = new Date(Date.now() - 60_000);

  private constructor(
    readonly database: TestDatabase,
    /** As the service. */
    readonly db: SqlPool,
    /** As the owner of the tables. */
    readonly owner: SqlPool,
  ) {}

  static async open(): Promise<ClaimTables> {
    const database = await createTestDatabase();
    const open = (url: string): SqlPool =>
      createPool({ url, max: 12, applicationName: 'claim-tables', onError: () => {} });
    return new ClaimTables(database, open(database.urls.runtime), open(database.ownerUrl));
  }

  async close(): Promise<void> {
    await Promise.all([this.db.end(), this.owner.end()]);
    await this.database.close();
  }

  /** Nothing but the pools named. */
  async reset(...pools: readonly string[]): Promise<void> {
    await this.owner.query(
      'TRUNCATE runtime.pool, runtime.slot, runtime.claim, runtime.session, runtime.org_usage, runtime.replica, runtime.waiting, runtime.fair_share, runtime.sandbox_note',
    );
    for (const pool of pools)
      await this.owner.query(
        `INSERT INTO runtime.pool (pool_id, image, template, target, max_age_seconds) VALUES ($1, $1, 't', 10, 3600)`,
        [pool],
      );
  }

  /** Makes slots ready, the last one warmed last. @returns their ids. */
  async ready(pool: string, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => `s${this.next()}`);
    await this.owner.query(
      `INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name, pod_uid, address, state, warmed_at)
       SELECT id, $1, 't', 'sb-' || id, 'uid-' || id, 'http://' || id, 'ready', $3::timestamptz + substr(id, 2)::integer * interval '1 millisecond' FROM unnest($2::text[]) u(id)`,
      [pool, ids, this.began],
    );
    return ids;
  }

  /** A request as the service would make it; `org/session`. */
  request(who: string, change: Partial<BindRequest> = {}): BindRequest {
    const [orgId = '', sessionId = ''] = who.split('/');
    return {
      orgId,
      sessionId,
      poolId: 'p',
      cost: 1,
      lane: 'interactive',
      claimId: `clm_${this.next()}`,
      runtimeId: `run_${this.next()}`,
      requestHash: 'hash',
      sealedKey: Buffer.from('key'),
      sealedEnvironment: Buffer.from('environment'),
      abandon: null,
      ...change,
    };
  }

  bind(
    requests: readonly BindRequest[],
    slots: ReadonlyArray<LeasedSlot | null> = [],
    replica = 'r1',
    defaultCap = 100,
  ): Promise<BindOutcome[]> {
    return bindBatch(
      this.db,
      replica,
      requests.map((request, index) => ({ request, slot: slots[index] ?? null })),
      { deadlineMs: 30_000, defaultCap },
    );
  }

  private next(): string {
    this.made += 1;
    return String(this.made).padStart(6, '0');
  }

  async rows<T>(sql: string, values: unknown[] = []): Promise<T[]> {
    return (await this.owner.query(sql, values)).rows as T[];
  }
}

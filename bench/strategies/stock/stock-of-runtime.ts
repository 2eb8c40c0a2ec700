import type { TestDatabase } from '@slipway/testing';
import type pg from 'pg';
import type { RaceStock } from './race-stock.ts';

/** The pool of which `slipway` gives out slots. */
export const POOL = 'race';

/** What claims and sessions leave behind. Slots are not among them: those that are ready may be leased. */
const LEFT_BEHIND =
  'runtime.claim, runtime.session, runtime.org_usage, runtime.waiting, runtime.fair_share, runtime.sandbox_note';

/** runtime-api's own tables, with slots that are rows only: no sandbox stands behind them. */
export function openStockOfRuntime(database: TestDatabase, owner: pg.Client): RaceStock {
  return {
    databaseUrl: database.urls.runtime,
    empty: async () => {
      await owner.query(`TRUNCATE runtime.pool, runtime.slot, runtime.replica, ${LEFT_BEHIND}`);
      await owner.query(
        `INSERT INTO runtime.pool (pool_id, image, template, target, max_age_seconds) VALUES ($1, $1, 't', 10, 3600)`,
        [POOL],
      );
    },
    fill: async (count) => {
      await owner.query(`DELETE FROM runtime.slot WHERE state <> 'ready'`);
      await owner.query(
        `INSERT INTO runtime.slot (slot_id, pool_id, template, pod_name, pod_uid, address, state, warmed_at)
         SELECT id, $1, 't', 'sb-' || id, 'uid-' || id, 'http://' || id, 'ready', clock_timestamp()
         FROM (SELECT gen_random_uuid()::text AS id FROM generate_series(1, $2 - (SELECT count(*) FROM runtime.slot))) made`,
        [POOL, count],
      );
      await owner.query(`TRUNCATE ${LEFT_BEHIND}`);
      await owner.query('VACUUM (ANALYZE) runtime.slot');
    },
    countBound: async (slots) => {
      const { rows } = await owner.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM runtime.slot v JOIN runtime.claim c USING (claim_id) JOIN runtime.session s USING (claim_id)
         WHERE v.state = 'bound' AND c.slot_id = v.slot_id AND c.state = 'bound' AND c.ended_at IS NULL AND v.slot_id = ANY ($1)`,
        [slots],
      );
      return rows[0]?.n ?? 0;
    },
    serverCpuMs: () => 0,
  };
}

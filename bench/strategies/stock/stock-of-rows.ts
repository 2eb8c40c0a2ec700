import type { TestDatabase } from '@slipway/testing';
import type pg from 'pg';
import type { RaceStock } from './race-stock.ts';

/**
 * Of all strategies on it the same work: the slot's row says whose it is, and the claim has a row of its own, under its
 * key. `version` is what a resourceVersion is.
 */
const SCHEMA = `
  CREATE SCHEMA race;
  CREATE TABLE race.slot (
    slot_id text PRIMARY KEY, state text NOT NULL DEFAULT 'ready', version bigint NOT NULL DEFAULT 1,
    epoch integer NOT NULL DEFAULT 0, holder integer, lease_until timestamptz, claim_id text UNIQUE, warmed_at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE INDEX slot_ready_idx ON race.slot (warmed_at DESC) WHERE state = 'ready';
  CREATE TABLE race.claim (claim_id text PRIMARY KEY, slot_id text NOT NULL UNIQUE);
`;

/** Slots as rows of a lean table, with nothing in them but what a claim needs. */
export async function openStockOfRows(database: TestDatabase, owner: pg.Client): Promise<RaceStock> {
  await owner.query(SCHEMA);
  return {
    databaseUrl: database.ownerUrl,
    empty: async () => void (await owner.query('TRUNCATE race.slot, race.claim')),
    fill: async (count) => {
      await owner.query(`DELETE FROM race.slot WHERE state <> 'ready'`);
      await owner.query(
        `INSERT INTO race.slot (slot_id) SELECT gen_random_uuid()::text FROM generate_series(1, $1 - (SELECT count(*) FROM race.slot))`,
        [count],
      );
      await owner.query('TRUNCATE race.claim');
      await owner.query('VACUUM (ANALYZE) race.slot');
    },
    countBound: async (slots) => {
      const { rows } = await owner.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM race.slot s JOIN race.claim c USING (slot_id) WHERE s.claim_id = c.claim_id AND s.state = 'bound' AND slot_id = ANY ($1)`,
        [slots],
      );
      return rows[0]?.n ?? 0;
    },
    serverCpuMs: () => 0,
  };
}

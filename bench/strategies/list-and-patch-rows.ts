/**
 * A cache of what is ready, a random pick out of it, and one write that holds only if the version is still the one of
 * the cache: list and patch as if its objects were rows of Postgres. An unreachable best case, since objects of a
 * cluster are written through its API server.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SqlPool } from '@slipway/db/sql';
import { LOOK_AGAIN_MS, type MakeStrategy } from './claim-strategy.ts';

/** Delay of a watch after a change. Milliseconds. */
const LIST_MS = 50;

export const listAndPatchRows: MakeStrategy = async ({ db }) => {
  const cache = new Map<string, number>();
  let keys: string[] = [];
  const list = async (): Promise<void> => {
    const { rows } = await db.query<{ slot_id: string; version: number }>({
      name: 'patch_list',
      text: `SELECT slot_id, version FROM race.slot WHERE state = 'ready'`,
    });
    cache.clear();
    for (const row of rows) cache.set(row.slot_id, row.version);
    keys = [...cache.keys()];
    shuffle(keys);
  };
  let running: Promise<void> = list();
  await running;
  const timer = setInterval(() => {
    running = running.then(list, list);
  }, LIST_MS);
  return {
    claim: async (claimId) => {
      for (;;) {
        // Taken out of the cache before it is asked for: two requests of one replica do not meet.
        const slot = keys.pop();
        const version = slot === undefined ? undefined : cache.get(slot);
        if (slot !== undefined && version !== undefined) {
          cache.delete(slot);
          if (await takeVersion(db, claimId, slot, version)) return slot;
        } else if (slot === undefined) await wait(LOOK_AGAIN_MS);
      }
    },
    stop: async () => clearInterval(timer),
  };
};

/** @returns false: the row was changed meanwhile. */
export async function takeVersion(db: SqlPool, claimId: string, slot: string, version: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'take_version',
    text: `WITH taken AS (UPDATE race.slot SET state = 'bound', claim_id = $1, version = version + 1 WHERE slot_id = $2 AND version = $3 AND state = 'ready' RETURNING slot_id)
      INSERT INTO race.claim (claim_id, slot_id) SELECT $1, slot_id FROM taken RETURNING slot_id`,
    values: [claimId, slot, version],
  });
  return rowCount === 1;
}

export function shuffle<T>(values: T[]): void {
  for (let index = values.length - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * (index + 1));
    [values[index], values[other]] = [values[other] as T, values[index] as T];
  }
}

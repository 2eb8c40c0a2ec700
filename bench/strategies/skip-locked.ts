/** One statement a claim: a random ready row without a lock. As Coder gives out prebuilt workspaces. */
import { setTimeout as wait } from 'node:timers/promises';
import { LOOK_AGAIN_MS, type MakeStrategy } from './claim-strategy.ts';

const claimBy = (order: string): string => `
  WITH chosen AS (SELECT slot_id FROM race.slot WHERE state = 'ready' ORDER BY ${order} LIMIT 1 FOR UPDATE SKIP LOCKED),
    taken AS (UPDATE race.slot s SET state = 'bound', claim_id = $1, version = version + 1 FROM chosen WHERE s.slot_id = chosen.slot_id RETURNING s.slot_id)
  INSERT INTO race.claim (claim_id, slot_id) SELECT $1, slot_id FROM taken RETURNING slot_id`;

const make =
  (name: string, order: string): MakeStrategy =>
  async ({ db }) => ({
    claim: async (claimId) => {
      for (;;) {
        const { rows } = await db.query<{ slot_id: string }>({ name, text: claimBy(order), values: [claimId] });
        if (rows[0] !== undefined) return rows[0].slot_id;
        await wait(LOOK_AGAIN_MS);
      }
    },
    stop: async () => {},
  });

export const skipLockedRandom = make('skip_locked_random', 'random()');
/** The same with an order that an index has: kinder than what its authors do. */
export const skipLockedNewest = make('skip_locked_newest', 'warmed_at DESC');

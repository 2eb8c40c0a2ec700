/**
 * Ours: a replica leases a chunk of ready slots ahead of time; a claim takes one of them in memory; all claims of the
 * moment are bound by one commit, fenced by holder, epoch and lease. No lock is contended for, and a commit is shared.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { LOOK_AGAIN_MS, type MakeStrategy } from './claim-strategy.ts';

/**
 * Slots of one lease: what half a second takes, within these, and never more than a replica's part of what is ready.
 */
const SMALLEST_CHUNK = 16;
const LARGEST_CHUNK = 256;
/**
 * One large batch at a time costs less processor a claim than two small ones side by side, or the same: measured with
 * 96 and with 300 under way.
 */
const BATCH = 128;
/** Batches under way at once. */
const PIPELINE = 1;

/** Its commit is not waited for: a lease that a crash loses is a lease that ends early. */
const LEASE = `
  WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS is_off),
    supply AS MATERIALIZED (SELECT count(*) AS ready FROM race.slot WHERE state = 'ready' AND (holder IS NULL OR lease_until < now())),
    chosen AS MATERIALIZED (
      SELECT slot_id FROM race.slot WHERE state = 'ready' AND (holder IS NULL OR lease_until < now())
      ORDER BY warmed_at DESC LIMIT (SELECT least($2, ceil(ready::numeric / $3))::int FROM supply, quick) FOR UPDATE SKIP LOCKED)
  UPDATE race.slot s SET holder = $1, epoch = s.epoch + 1, lease_until = now() + interval '15 s' FROM chosen WHERE s.slot_id = chosen.slot_id RETURNING s.slot_id, s.epoch`;

/**
 * For a claim, when no slot is free: half of what the replica has that leases most. The new epoch is the fence; without
 * this, a replica whose clients are quiet keeps the last slots until its lease ends.
 */
const TAKE_OVER = `
  WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS is_off),
    largest AS MATERIALIZED (
      SELECT holder, count(*) AS held FROM race.slot WHERE state = 'ready' AND holder <> $1 AND lease_until > now() GROUP BY holder ORDER BY held DESC LIMIT 1),
    chosen AS MATERIALIZED (
      SELECT slot_id FROM race.slot WHERE state = 'ready' AND holder = (SELECT holder FROM largest)
      ORDER BY warmed_at LIMIT (SELECT ceil(held / 2.0)::int FROM largest, quick) FOR UPDATE SKIP LOCKED)
  UPDATE race.slot s SET holder = $1, epoch = s.epoch + 1, lease_until = now() + interval '15 s' FROM chosen WHERE s.slot_id = chosen.slot_id RETURNING s.slot_id, s.epoch`;

/** Rows are locked in the order of their ids: two batches never wait for each other in a circle. */
const BIND = `
  WITH item AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::text[], $4::int[]) AS i(claim_id, slot_id, epoch)),
    locked AS MATERIALIZED (
      SELECT s.slot_id, i.claim_id FROM race.slot s JOIN item i ON s.slot_id = i.slot_id AND s.epoch = i.epoch
      WHERE s.state = 'ready' AND s.holder = $1 AND s.lease_until > now() ORDER BY s.slot_id FOR UPDATE OF s),
    taken AS (UPDATE race.slot s SET state = 'bound', claim_id = l.claim_id, version = s.version + 1 FROM locked l WHERE s.slot_id = l.slot_id RETURNING s.slot_id, s.claim_id)
  INSERT INTO race.claim (claim_id, slot_id) SELECT claim_id, slot_id FROM taken RETURNING claim_id, slot_id`;

interface Waiting {
  readonly claimId: string;
  readonly slot: { readonly slot_id: string; readonly epoch: number };
  readonly resolve: (slot: string | null) => void;
  readonly reject: (error: unknown) => void;
}

export const leasedChunks: MakeStrategy = async ({ db, replica, replicas }) => {
  const stock: { slot_id: string; epoch: number }[] = [];
  let waiting: Waiting[] = [];
  let underWay = 0;
  let isGathering = false;
  let taken = 0;
  /** Claims without a leased slot. */
  let inNeed = 0;
  let chunk = SMALLEST_CHUNK;
  let leasing: Promise<void> | null = null;

  const leaseOnce = async (): Promise<void> => {
    const free = await db.query<{ slot_id: string; epoch: number }>({
      name: 'lease',
      text: LEASE,
      values: [replica, chunk, replicas],
    });
    stock.push(...free.rows);
    if (stock.length > 0 || inNeed === 0) return;
    const others = await db.query<{ slot_id: string; epoch: number }>({
      name: 'take_over',
      text: TAKE_OVER,
      values: [replica],
    });
    stock.push(...others.rows);
  };
  const lease = (): Promise<void> => {
    leasing ??= leaseOnce().finally(() => {
      leasing = null;
    });
    return leasing;
  };
  const flush = (): void => {
    isGathering = false;
    while (underWay < PIPELINE && waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      underWay += 1;
      void bind(batch).finally(() => {
        underWay -= 1;
        flush();
      });
    }
  };
  const bind = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const values = [
        replica,
        batch.map((each) => each.claimId),
        batch.map((each) => each.slot.slot_id),
        batch.map((each) => each.slot.epoch),
      ];
      const { rows } = await db.query<{ claim_id: string; slot_id: string }>({ name: 'bind', text: BIND, values });
      const bound = new Map(rows.map((row) => [row.claim_id, row.slot_id]));
      for (const { claimId, resolve } of batch) resolve(bound.get(claimId) ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  // Off the way of any claim.
  const background = setInterval(() => {
    chunk = Math.min(LARGEST_CHUNK, Math.max(SMALLEST_CHUNK, taken * 10, chunk >> 1));
    taken = 0;
    if (stock.length < chunk / 2) void lease().catch(() => {});
  }, 50);
  return {
    claim: async (claimId) => {
      for (;;) {
        const slot = stock.pop();
        if (slot === undefined) {
          inNeed += 1;
          await lease().finally(() => {
            inNeed -= 1;
          });
          if (stock.length === 0) await wait(LOOK_AGAIN_MS);
          continue;
        }
        taken += 1;
        if (stock.length < chunk / 2) void lease().catch(() => {});
        const bound = await new Promise<string | null>((resolve, reject) => {
          waiting.push({ claimId, slot, resolve, reject });
          // All that came with this turn of the event loop; while a batch is under way the next gather by themselves.
          if (underWay >= PIPELINE || isGathering) return;
          isGathering = true;
          setImmediate(flush);
        });
        if (bound !== null) return bound;
      }
    },
    stop: async () => clearInterval(background),
  };
};

/** Ways to give a ready slot to a claim, behind one interface, on one table. Each replica has one of them, in a process of its own. */
import type { SqlPool } from '@slipway/db/sql';

export interface ClaimStrategy {
  /**
   * A slot that is this claim's for ever: durable and exclusive when it answers. Waits while none is free.
   * @throws Error when it gives up.
   */
  claim(claimId: string): Promise<string>;
  stop(): Promise<void>;
}

export interface StrategyContext {
  readonly db: SqlPool;
  /** Which of the replicas this is, from 0. */
  readonly replica: number;
  readonly replicas: number;
  /** `null` when the machine has no redis-server. */
  readonly redisPort: number | null;
}

export type MakeStrategy = (context: StrategyContext) => Promise<ClaimStrategy>;

/** Of all of them the same work: the slot's row says whose it is, and the claim has a row of its own, under its key. `version` is what a resourceVersion is. */
export const SCHEMA = `
  CREATE SCHEMA race;
  CREATE TABLE race.slot (
    slot_id text PRIMARY KEY, state text NOT NULL DEFAULT 'ready', version bigint NOT NULL DEFAULT 1,
    epoch integer NOT NULL DEFAULT 0, holder integer, lease_until timestamptz, claim_id text UNIQUE, warmed_at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE INDEX slot_ready_idx ON race.slot (warmed_at DESC) WHERE state = 'ready';
  CREATE TABLE race.claim (claim_id text PRIMARY KEY, slot_id text NOT NULL UNIQUE);
`;

/** Pause before a claim that found nothing looks again. Milliseconds. */
export const LOOK_AGAIN_MS = 5;

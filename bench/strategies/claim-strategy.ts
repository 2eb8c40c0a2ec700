/**
 * Ways to give a ready slot to a claim, behind one interface. Each replica has one of them, in a process of its own.
 */
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
  /** Connections of this replica to wherever it claims. */
  readonly connections: number;
  /** Which of the replicas this is, from 0. */
  readonly replica: number;
  readonly replicas: number;
  /** `null` when the machine has no redis-server. */
  readonly redisPort: number | null;
  /** A file of JSON: how to reach the API server; `null` when no cluster can be had. */
  readonly kubeconfig: string | null;
}

export type MakeStrategy = (context: StrategyContext) => Promise<ClaimStrategy>;

/** Pause before a claim that found nothing retries. Milliseconds. */
export const LOOK_AGAIN_MS = 5;

import type { SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { ResourceFactor, SandboxBackend } from '@slipway/sandbox';
import type { Logger } from '@slipway/telemetry';
import type { Failpoints } from '../failpoints.js';
import type { UnkeptBounds } from './unkept.queries.js';

/**
 * Blank sandboxes that are kept ahead of demand: the forecast moves between the two. Whoever waits is made one beyond
 * them.
 */
export interface PoolBounds {
  readonly min: number;
  readonly max: number;
}

/** One kind of blank sandbox that is kept warm. Its key holds nothing of a tenant. */
export interface PoolSpec {
  readonly poolId: string;
  /** Name of the template. */
  readonly image: string;
  /**
   * What the template runs, as a registry names it; `null` where sandboxes have no image. A request may ask for this
   * name too.
   */
  readonly imageReference: string | null;
  /** The isolation that the template asks of its nodes; `null` is theirs. */
  readonly runtimeClass: string | null;
  readonly size: ResourceFactor;
  readonly bounds: PoolBounds;
  readonly maxAgeSeconds: number;
}

/** How hard the place where sandboxes run may be worked, and how patient one has to be with it. */
export interface PoolPace {
  /** Sandboxes of all pools that start at the same time. */
  readonly startsAtOnce: number;
  /**
   * Longest from creation to running, while nothing is known to be in the way. Milliseconds; the slot is then given up.
   */
  readonly startTimeoutMs: number;
  /**
   * Longest from running until agent-server says that it is blank. Milliseconds; it listens within a second of its
   * start.
   */
  readonly dormantTimeoutMs: number;
  /**
   * Missing sandboxes are made beside claims. Otherwise a pool that is half full waits for a pause: a start takes the
   * processor from whoever has just got a sandbox.
   */
  readonly refillsBesideClaims: boolean;
  /** How long a target that has fallen is still kept. Milliseconds; who gave up waiting often comes back. */
  readonly surplusAfterMs: number;
}

/** Sandboxes that share this machine: more than four at once only take each other's processor. */
export const LOCAL_PACE: PoolPace = {
  startsAtOnce: 4,
  startTimeoutMs: 30_000,
  dormantTimeoutMs: 30_000,
  refillsBesideClaims: false,
  surplusAfterMs: 60_000,
};
/**
 * Sandboxes on nodes of their own. A node may pull an image for minutes; how many are created a second is the backend's
 * budget.
 */
export const CLUSTER_PACE: PoolPace = {
  startsAtOnce: 300,
  startTimeoutMs: 10 * 60_000,
  dormantTimeoutMs: 30_000,
  refillsBesideClaims: true,
  surplusAfterMs: 60_000,
};

/** What the warm pools work with. Time is Postgres'; nothing here holds state that a crash would lose. */
export interface PoolContext {
  readonly db: SqlPool;
  readonly backend: SandboxBackend;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly failpoints: Failpoints;
  readonly pace: PoolPace;
  readonly unkept: UnkeptBounds;
  /** The first one is for requests that name no image and no size. */
  readonly pools: readonly [PoolSpec, ...PoolSpec[]];
}

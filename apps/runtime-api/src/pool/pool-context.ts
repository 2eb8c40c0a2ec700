import type { SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { ResourceFactor, SandboxBackend } from '@slipway/sandbox';
import type { Logger } from '@slipway/telemetry';
import type { Failpoints } from '../failpoints.js';

/** One kind of blank sandbox that is kept warm. Its key holds nothing of a tenant. */
export interface PoolSpec {
  readonly poolId: string;
  /** Name of the template. */
  readonly image: string;
  /** What the template runs, as a registry names it; `null` where sandboxes have no image. A request may ask for this name too. */
  readonly imageReference: string | null;
  /** The isolation that the template asks of its nodes; `null` is theirs. */
  readonly runtimeClass: string | null;
  readonly size: ResourceFactor;
  /** Blank sandboxes that are kept. */
  readonly target: number;
  readonly maxAgeSeconds: number;
}

/** What the warm pools work with. Time is Postgres'; nothing here holds state that a crash would lose. */
export interface PoolContext {
  readonly db: SqlPool;
  readonly backend: SandboxBackend;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly failpoints: Failpoints;
  /** The first one is for requests that name no image and no size. */
  readonly pools: readonly [PoolSpec, ...PoolSpec[]];
}

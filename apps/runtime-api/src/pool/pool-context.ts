import type { SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { SandboxBackend } from '@slipway/sandbox';
import type { Logger } from '@slipway/telemetry';
import type { Failpoints } from '../failpoints.js';

/** What the warm pool works with. Time is Postgres'; nothing here holds state that a crash would lose. */
export interface PoolContext {
  readonly db: SqlPool;
  readonly backend: SandboxBackend;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly failpoints: Failpoints;
  readonly pool: { readonly poolId: string; readonly image: string; readonly target: number; readonly maxAgeSeconds: number };
}

import type { SqlPool } from '@slipway/db/sql';

/** Claims that wait for a sandbox of this pool. */
export async function countWaiting(_db: SqlPool, _poolId: string): Promise<number> {
  return 0;
}

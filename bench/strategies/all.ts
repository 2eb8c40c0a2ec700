import { batchLoop } from './batch-loop.ts';
import type { MakeStrategy } from './claim-strategy.ts';
import { leasedChunks } from './leased-chunks.ts';
import { listAndPatchApi } from './list-and-patch-api.ts';
import { listAndPatchRows } from './list-and-patch-rows.ts';
import { redisLock } from './redis-lock.ts';
import { skipLockedNewest, skipLockedRandom } from './skip-locked.ts';
import { slipway } from './slipway.ts';

export interface Racer {
  readonly make: MakeStrategy;
  /** What its slots are. */
  readonly stock: 'rows' | 'objects' | 'runtime';
  /**
   * `named`: one of the four that ours has to be faster than. `further`: a variant that is kinder than what anybody
   * runs.
   */
  readonly is: 'named' | 'further' | 'ours';
}

/** Ours as an algorithm, on the table of the others. */
export const OURS = 'leased-chunks';
/** Ours as it is shipped, with all that it writes. */
export const SLIPWAY = 'slipway';

export const RACERS: Readonly<Record<string, Racer>> = {
  'skip-locked-random': { make: skipLockedRandom, stock: 'rows', is: 'named' },
  'list-and-patch-api': { make: listAndPatchApi, stock: 'objects', is: 'named' },
  'redis-lock': { make: redisLock, stock: 'rows', is: 'named' },
  'batch-loop': { make: batchLoop, stock: 'rows', is: 'named' },
  'skip-locked-newest': { make: skipLockedNewest, stock: 'rows', is: 'further' },
  'list-and-patch-rows': { make: listAndPatchRows, stock: 'rows', is: 'further' },
  [OURS]: { make: leasedChunks, stock: 'rows', is: 'ours' },
  [SLIPWAY]: { make: slipway, stock: 'runtime', is: 'ours' },
};

import { batchLoop } from './batch-loop.ts';
import type { MakeStrategy } from './claim-strategy.ts';
import { leasedChunks } from './leased-chunks.ts';
import { listAndPatch } from './list-and-patch.ts';
import { redisLock } from './redis-lock.ts';
import { skipLockedNewest, skipLockedRandom } from './skip-locked.ts';

export const OURS = 'leased-chunks';

export const STRATEGIES: Readonly<Record<string, MakeStrategy>> = {
  'skip-locked-random': skipLockedRandom,
  'skip-locked-newest': skipLockedNewest,
  'redis-lock': redisLock,
  'batch-loop': batchLoop,
  'list-and-patch': listAndPatch,
  [OURS]: leasedChunks,
};

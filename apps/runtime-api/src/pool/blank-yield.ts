import { countWaiting } from '../claims/waiting.queries.js';
import { countPools, doomSurplus, poolProblems } from './pool.queries.js';
import type { PoolContext } from './pool-context.js';

/** Blank sandboxes given up in one pass. The cluster has until the next one to use the room. */
const AT_ONCE = 10;
/**
 * No pool grows for this long after a claim last waited for room. Milliseconds; removed blank sandboxes must not return
 * before those claims have the room.
 */
const HOLD_MS = 30_000;

/**
 * Gives blank sandboxes up while sessions wait whose sandboxes no node takes: all sandboxes have one priority, so the
 * scheduler takes no place from another one. A pool with waiting claims gives up none. Pods of the platform need none
 * of it: they have the higher priority (ADR 0020).
 */
export class BlankYield {
  private shortAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: PoolContext) {}

  /** No pool makes sandboxes ahead of demand now. */
  get holds(): boolean {
    return performance.now() - this.shortAt < HOLD_MS;
  }

  /** @returns how many blank sandboxes it gave up. */
  async pass(): Promise<number> {
    const { db, logger } = this.context;
    const byPool = await countPools(db);
    const waiting = new Map<string, number>();
    for (const poolId of byPool.keys()) waiting.set(poolId, await countWaiting(db, poolId));
    const starved = (await poolProblems(db)).filter(
      ({ code, poolId }) => code === 'sandbox.unschedulable' && (waiting.get(poolId) ?? 0) > 0,
    );
    let missing = Math.min(
      AT_ONCE,
      starved.reduce((sum, { poolId }) => sum + (waiting.get(poolId) ?? 0), 0),
    );
    if (missing === 0) return 0;
    this.shortAt = performance.now();
    const givers = [...byPool]
      .filter(([poolId]) => (waiting.get(poolId) ?? 0) === 0)
      .sort(([, one], [, other]) => other.ready - one.ready);
    let given = 0;
    for (const [poolId, { ready }] of givers) {
      const doomed = ready === 0 || missing === 0 ? 0 : await doomSurplus(db, poolId, Math.min(ready, missing));
      missing -= doomed;
      given += doomed;
    }
    if (given > 0)
      logger.info(
        { sandboxes: given, pools: starved.map(({ poolId }) => poolId) },
        'blank sandboxes removed to make room for waiting claims',
      );
    return given;
  }
}

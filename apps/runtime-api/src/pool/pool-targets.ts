import { type ForecastState, forecast, NO_FORECAST } from '@slipway/domain';
import { countWaiting } from '../claims/waiting.queries.js';
import {
  countPools,
  databaseTime,
  doomSurplus,
  measureLead,
  type PoolCounts,
  savedForecast,
  saveForecast,
  saveTarget,
  takeArrivals,
} from './pool.queries.js';
import type { PoolContext, PoolSpec } from './pool-context.js';

/** Replicas write their arrivals once a second: an older second is complete. Seconds. */
const COMPLETE_AFTER = 2;
/** Until a pool has measured it. Seconds. */
const FIRST_LEAD = 5;
/** How often what the forecast remembers is stored, and the lead is measured. Milliseconds. */
const SAVE_MS = 60_000;
/** Of the most that a pool keeps, so many in a hundred are beyond the averages, where there are any arrivals at all. */
const BURST_PERCENT = 5;
/**
 * Most sandboxes made at once for waiting claims, beyond those kept warm: their organizations' limits bound the rest.
 */
const WAITING_AT_ONCE = 500;

interface PoolMemory {
  forecast: ForecastState;
  leadSeconds: number;
  savedAt: number;
  /** Targets of late, for those who gave up waiting and come back. */
  peaks: ReadonlyArray<{ readonly at: number; readonly target: number }>;
}

/**
 * Sets the target of each pool once a second: what the forecast asks for within the pool's bounds, and one for each
 * that waits. A pool whose bounds are one number keeps that number. What it forgets when the leader changes costs a
 * minute of not shrinking.
 */
export class PoolTargets {
  private readonly memory = new Map<string, PoolMemory>();
  private readonly since = performance.now();
  private countedUntil: number | null = null;

  /** @param holds while it says so, no pool grows ahead of demand. */
  constructor(
    private readonly context: PoolContext,
    private readonly holds: () => boolean = () => false,
  ) {}

  /** One pass. */
  async pass(): Promise<void> {
    const { db, pools } = this.context;
    const until = Math.floor(await databaseTime(db)) - COMPLETE_AFTER;
    const from = this.countedUntil ?? until - 1;
    if (until <= from) return;
    const arrivals = await takeArrivals(db, from, until);
    this.countedUntil = until;
    const byPool = await countPools(db);
    for (const pool of pools) {
      const counts = byPool.get(pool.poolId);
      if (counts !== undefined)
        await this.setTarget(pool, counts, {
          at: until,
          seconds: until - from,
          arrivals: arrivals.get(pool.poolId) ?? 0,
        });
    }
  }

  private async setTarget(pool: PoolSpec, counts: PoolCounts, count: Parameters<typeof forecast>[1]): Promise<void> {
    const { db, pace } = this.context;
    const { poolId, bounds } = pool;
    const memory = await this.remembered(poolId);
    const burstReserve = bounds.max > bounds.min && memory.forecast.recent > 0 ? (bounds.max * BURST_PERCENT) / 100 : 0;
    const next = forecast(memory.forecast, count, memory.leadSeconds, {
      ...bounds,
      max: Math.max(bounds.min, bounds.max),
      burstReserve,
    });
    memory.forecast = next.state;
    const living = counts.blank - counts.doomed;
    const ahead = this.holds() ? Math.min(next.target, living) : next.target;
    const target = ahead + Math.min(WAITING_AT_ONCE, await countWaiting(db, poolId));
    if (target !== counts.target) await saveTarget(db, poolId, target);
    const now = performance.now();
    memory.peaks = [
      ...memory.peaks.filter((peak) => peak.at > now - pace.surplusAfterMs && peak.target > target),
      { at: now, target },
    ];
    const kept = memory.peaks[0]?.target ?? target;
    if (living > kept && now - this.since > pace.surplusAfterMs) await doomSurplus(db, poolId, living - kept);
    if (now - memory.savedAt < SAVE_MS) return;
    memory.savedAt = now;
    await saveForecast(db, poolId, memory.forecast);
    memory.leadSeconds = (await measureLead(db, poolId)) ?? memory.leadSeconds;
  }

  private async remembered(poolId: string): Promise<PoolMemory> {
    const known = this.memory.get(poolId);
    if (known !== undefined) return known;
    const saved = await savedForecast(this.context.db, poolId);
    const memory = {
      forecast: saved.forecast ?? NO_FORECAST,
      leadSeconds: saved.leadSeconds ?? FIRST_LEAD,
      savedAt: performance.now(),
      peaks: [],
    };
    this.memory.set(poolId, memory);
    return memory;
  }
}

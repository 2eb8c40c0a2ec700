/**
 * Money in whole numbers: a tick is 1e-10 USD, the smallest place of the ledger. Sums of ticks are exact up to 900,000
 * USD (2^53 ticks); more than that is only ever added up in Postgres.
 */
const TICKS_PER_USD = 1e10;
/** The largest amount of one call or lease. Ticks; 100,000 USD. */
export const MAX_TICKS = 1e15;

/** What a call came to, as the ledger rounds it. */
export function toTicks(usd: number): number {
  return Math.min(MAX_TICKS, Math.max(0, Math.round(usd * TICKS_PER_USD)));
}

/** What a call may come to: never less than it says. */
export function toTicksUp(usd: number): number {
  return Math.min(MAX_TICKS, Math.max(0, Math.ceil(usd * TICKS_PER_USD)));
}

export function toUsd(ticks: number): number {
  return ticks / TICKS_PER_USD;
}

/** For a `numeric` column: all ten places. */
export function decimal(usd: number): string {
  return toUsd(toTicks(usd)).toFixed(10);
}

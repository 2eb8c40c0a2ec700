/** Seconds of LiteLLM's `30s`, `15m`, `24h`, `30d`, `1mo` (30 days). */
export function secondsOf(duration: string): number {
  const [, count = '0', unit = 's'] = /^(\d+)(s|m|h|d|mo)$/.exec(duration) ?? [];
  return Number(count) * { s: 1, m: 60, h: 3_600, d: 86_400, mo: 30 * 86_400 }[unit as 's'];
}

export interface Period {
  readonly period: 'month' | 'day' | 'total' | 'seconds';
  readonly seconds: number | null;
}

/** `null`: for good. */
export function periodOf(duration: string | null): Period {
  if (duration === null) return { period: 'total', seconds: null };
  if (duration === '1mo') return { period: 'month', seconds: null };
  const seconds = secondsOf(duration);
  return seconds === 86_400 ? { period: 'day', seconds: null } : { period: 'seconds', seconds };
}

export function durationOf({ period, seconds }: Period): string | null {
  if (period === 'month') return '1mo';
  if (period === 'day') return '1d';
  if (period === 'total' || seconds === null) return null;
  for (const [unit, length] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
  ] as const)
    if (seconds % length === 0) return `${seconds / length}${unit}`;
  return `${seconds}s`;
}

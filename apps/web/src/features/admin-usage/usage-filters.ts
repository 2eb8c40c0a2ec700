import { MAX_USAGE_DAYS, type UsageDimension } from '@slipway/contracts/spending';
import type { MessageKey } from '../../messages/translate.ts';

export const DAY_MS = 86_400_000;

/** What the address says the page is about; what it says wrongly is as if it were not there. */
export interface UsageFilters {
  readonly days: number;
  readonly by: Exclude<UsageDimension, 'day'>;
}

export const SPANS = [7, 30, 90, 365] as const;
export const GROUPS: ReadonlyArray<{ readonly value: UsageFilters['by']; readonly label: MessageKey }> = [
  { value: 'user', label: 'adminUsage.byUser' },
  { value: 'repository', label: 'adminUsage.byRepository' },
  { value: 'model', label: 'adminUsage.byModel' },
  { value: 'conversation', label: 'adminUsage.byConversation' },
];

export function filtersOf(days: string | null, by: string | null): UsageFilters {
  const asked = Number(days);
  return {
    days: Number.isInteger(asked) && asked >= 1 && asked <= MAX_USAGE_DAYS ? asked : 30,
    by: GROUPS.find(({ value }) => value === by)?.value ?? 'user',
  };
}

/** First and last day of so many, the last being today. UTC. */
export function spanOf(days: number, now: number): { readonly from: string; readonly to: string } {
  return {
    from: new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10),
    to: new Date(now).toISOString().slice(0, 10),
  };
}

/** Every day of a span, those on which nothing was spent too. */
export function daysOf(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

/** Most bars of a day each; a phone shows no more beside each other. */
const MAX_DAY_BARS = 100;

/**
 * One bar a day, or one a week when there would be too many. The first week may be a part of one, so that the last is
 * whole.
 */
export function barsOf(
  days: readonly string[],
  figures: ReadonlyMap<string, number>,
): ReadonlyArray<{ from: string; to: string; figure: number }> {
  const size = days.length > MAX_DAY_BARS ? 7 : 1;
  const bars: Array<{ from: string; to: string; figure: number }> = [];
  for (let end = days.length; end > 0; end -= size) {
    const span = days.slice(Math.max(0, end - size), end);
    bars.unshift({
      from: span[0] ?? '',
      to: span.at(-1) ?? '',
      figure: span.reduce((sum, date) => sum + (figures.get(date) ?? 0), 0),
    });
  }
  return bars;
}

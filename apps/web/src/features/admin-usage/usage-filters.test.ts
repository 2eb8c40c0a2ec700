import { describe, expect, it } from '@jest/globals';
import { barsOf, daysOf, filtersOf, spanOf } from './usage-filters.ts';

describe('the span of a usage page', () => {
  it('takes what the address says wrongly for what it would be without', () => {
    for (const wrong of [null, '', '0', '-3', '1.5', '367', 'x'])
      expect(filtersOf(wrong, 'nonsense')).toEqual({ days: 30, by: 'user' });
    expect(filtersOf('7', 'model')).toEqual({ days: 7, by: 'model' });
  });

  it('draws a bar a day, and a bar a week of what is longer, none of which loses a day', () => {
    const days = daysOf('2025-11-23', '2026-11-22');
    const figures = new Map(days.map((date) => [date, 1]));
    expect(barsOf(days.slice(-90), figures).map(({ figure }) => figure)).toEqual(Array(90).fill(1));
    const weeks = barsOf(days, figures);
    expect([weeks[0], weeks.at(-1), weeks.length]).toEqual([
      { from: '2025-11-23', to: '2025-11-23', figure: 1 },
      { from: '2026-11-16', to: '2026-11-22', figure: 7 },
      53,
    ]);
  });

  it('ends today and has as many days as asked for, across the end of a month and of a summer time', () => {
    const span = spanOf(30, Date.parse('2026-11-05T23:59:59Z'));
    expect(span).toEqual({ from: '2026-10-07', to: '2026-11-05' });
    const days = daysOf(span.from, span.to);
    expect([days.length, new Set(days).size, days[0], days.at(-1)]).toEqual([30, 30, '2026-10-07', '2026-11-05']);
  });
});

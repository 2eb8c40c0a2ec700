import { describe, expect, it } from '@jest/globals';
import { isBackward, rangeOfDays } from './day-range.ts';

describe('a range of days', () => {
  it('holds its first and its last day whole, in the zone of the reader', () => {
    const { from = '', to = '' } = rangeOfDays('2026-11-01', '2026-11-30');
    expect([new Date(from).getHours(), new Date(from).getDate()]).toEqual([0, 1]);
    expect([new Date(to).getHours(), new Date(to).getDate(), new Date(to).getMonth()]).toEqual([0, 1, 11]);
  });

  it('has no bound where no day is given, nor for what is no day', () => {
    expect(rangeOfDays(null, null)).toEqual({});
    expect(rangeOfDays('yesterday', '2026-1-1')).toEqual({});
  });

  it('is backward only when both days are given and the last is before the first', () => {
    expect(isBackward('2026-11-02', '2026-11-01')).toBe(true);
    expect(isBackward('2026-11-01', '2026-11-01')).toBe(false);
    expect(isBackward(null, '2026-11-01')).toBe(false);
  });
});

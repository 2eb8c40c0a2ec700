import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { segmentsOf, usedWords } from './storage-words.ts';

const kinds = { log: 50, payloads: 20, changes: 0, rounding: 10 };
const percents = (used: number, limit: number | null) =>
  segmentsOf(t, { used, limit, kinds }).map(({ percent }) => percent);

describe('the bar of storage', () => {
  it('is of the limit, of what is used without one, and never longer than its place', () => {
    expect(percents(80, 160)).toEqual([31.25, 12.5, 0, 6.25]);
    expect(percents(80, null)).toEqual([62.5, 25, 0, 12.5]);
    expect(percents(80, 40)).toEqual([62.5, 25, 0, 12.5]);
    expect(
      segmentsOf(t, { used: 0, limit: null, kinds: { log: 0, payloads: 0, changes: 0, rounding: 0 } }).map(
        ({ percent }) => percent,
      ),
    ).toEqual([0, 0, 0, 0]);
  });

  it('is said in words with its share', () => {
    expect(usedWords(t, { used: 1.5 * 2 ** 30, limit: 50 * 2 ** 30 })).toBe('1.5 GiB of 50 GiB used (3 %)');
    expect(usedWords(t, { used: 65_536, limit: null })).toBe('64 KiB used, no limit');
  });
});

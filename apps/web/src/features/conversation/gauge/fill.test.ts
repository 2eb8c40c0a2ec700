import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fillOf, percentOf } from './fill.ts';

describe('the gauge', () => {
  it('is free, filling from three quarters on, and nearly full from nine tenths on', () => {
    expect([74, 75, 89, 90, 130].map((used) => fillOf(used, 100))).toEqual([
      { share: 0.74, level: 'free' },
      { share: 0.75, level: 'filling' },
      { share: 0.89, level: 'filling' },
      { share: 0.9, level: 'nearly-full' },
      { share: 1, level: 'nearly-full' },
    ]);
  });

  it('has nothing to show without a limit, or with one that is none', () => {
    expect([fillOf(1, null), fillOf(1, 0), fillOf(Number.NaN, 5), fillOf(-1, 5)]).toEqual([null, null, null, null]);
  });

  it('rounds to whole percent, and reads as 0 or 100 only for nothing and for all', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (share) => {
        const percent = percentOf(share);
        expect(percent === 0).toBe(share === 0);
        expect(percent === 100).toBe(share === 1);
        expect(Math.abs(percent - share * 100)).toBeLessThanOrEqual(1);
      }),
    );
  });
});

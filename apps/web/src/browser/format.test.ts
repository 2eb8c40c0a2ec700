import { describe, expect, it } from '@jest/globals';
import { longDuration } from './format.ts';

describe('a long duration', () => {
  it('reads in whole seconds, minutes and hours', () => {
    const read = [-5_000, 0, 999, 14_900, 60_000, 134_000, 3_599_999, 3_600_000, 93_720_000].map(longDuration);
    expect(read).toEqual([
      '0 s',
      '0 s',
      '0 s',
      '14 s',
      '1 min 00 s',
      '2 min 14 s',
      '59 min 59 s',
      '1 h 00 min',
      '26 h 02 min',
    ]);
  });
});

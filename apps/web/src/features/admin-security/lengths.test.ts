import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { lengthOf, lengthOptions } from './lengths.ts';

describe('lengths of sessions', () => {
  it('are said in the largest whole unit', () => {
    expect([15, 60, 90, 480, 1_440, 2_880, 10_080, 20_160].map((minutes) => lengthOf(t, minutes))).toEqual([
      '15 minutes',
      '1 hour',
      '90 minutes',
      '8 hours',
      '1 day',
      '2 days',
      '1 week',
      '2 weeks',
    ]);
  });

  it('offer also what was set by a program', () => {
    expect(
      lengthOptions(t, { offered: [60, 240], present: 90, none: 'none', noneLabel: 'No rule' }).map(
        ({ value }) => value,
      ),
    ).toEqual(['none', '60', '90', '240']);
    expect(lengthOptions(t, { offered: [60, 240], present: null, none: 'none', noneLabel: 'No rule' })).toHaveLength(3);
  });
});

import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { estimate } from './sandbox-words.ts';

describe('how long somebody waits', () => {
  it('is given coarsely, and not at all when it cannot be known', () => {
    expect([null, 0, 9.9, 12, 84, 95, 600].map((seconds) => estimate(t, seconds))).toEqual([
      'unknown',
      'a few seconds',
      'a few seconds',
      'about 10 s',
      'about 80 s',
      'about 2 min',
      'about 10 min',
    ]);
  });
});

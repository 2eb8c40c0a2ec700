import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { shortTime, stateOf } from './deployment-words.ts';

describe('stateOf', () => {
  it('tells a place that fails from one whose provider asked for a pause, and one that was never asked from one that works', () => {
    const labels = [
      stateOf(t, { state: 'closed', coolsDown: false, calls: 0 }),
      stateOf(t, { state: 'closed', coolsDown: false, calls: 1 }),
      stateOf(t, { state: 'open', coolsDown: false, calls: 3 }),
      stateOf(t, { state: 'open', coolsDown: true, calls: 3 }),
      stateOf(t, { state: 'half-open', coolsDown: false, calls: 3 }),
    ].map(({ label }) => label);
    expect(new Set(labels).size).toBe(5);
  });
});

describe('shortTime', () => {
  it('is in milliseconds below a second and in seconds from there on', () => {
    expect([shortTime(t, 0), shortTime(t, 850), shortTime(t, 2_449)]).toEqual(['0 ms', '850 ms', '2.4 s']);
  });
});

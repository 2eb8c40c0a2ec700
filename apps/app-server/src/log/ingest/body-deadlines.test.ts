import { describe, expect, it } from '@jest/globals';
import { BodyDeadlines } from './body-deadlines.js';

const MIB = 1024 * 1024;

describe('the time that a body may take', () => {
  /** How long a body of so many bytes is waited for. Milliseconds, checked each half second. */
  function waitedFor(bytes: number, step = 500): number {
    let now = 0;
    let late = false;
    const deadlines = new BodyDeadlines(() => now);
    const done = deadlines.watch(bytes, () => {
      late = true;
    });
    while (!late) {
      now += step;
      deadlines.look();
    }
    done();
    return now;
  }

  it('is two seconds and what its bytes need at half a mebibyte a second, and ten seconds at most', () => {
    expect([waitedFor(10), waitedFor(2 * MIB), waitedFor(8 * MIB)]).toEqual([2_500, 6_000, 10_000]);
  });

  it('is longer when this process stood still: what came meanwhile was unread', () => {
    expect(waitedFor(10, 60_000)).toBe(180_000);
  });

  it('is over once, and not at all for a body that was read', () => {
    let now = 0;
    let late = 0;
    const deadlines = new BodyDeadlines(() => now);
    const done = deadlines.watch(10, () => {
      late += 1;
    });
    deadlines.watch(10, () => {
      late += 1;
    });
    done();
    for (now = 0; now < 60_000; now += 500) deadlines.look();
    expect(late).toBe(1);
  });
});

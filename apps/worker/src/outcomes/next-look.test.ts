import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Looked, nextLook, repeatedLook } from './next-look.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const BEGUN = new Date('2026-11-01T00:00:00Z');
const after = (days: number): Date => new Date(BEGUN.getTime() + days * DAY_MS);
const hoursUntil = (next: Date | null, now: Date): number | null =>
  next === null ? null : (next.getTime() - now.getTime()) / HOUR_MS;
const open: Looked = { state: 'open', begunAt: BEGUN, mergedAt: null, watchedDays: 0 };
const merged: Looked = { state: 'merged', begunAt: BEGUN, mergedAt: after(1), watchedDays: 0 };

describe('when a git host is asked after a pull request', () => {
  it('is every 6 hours at first, the more seldom the older it is, weekly at last, and never after a year', () => {
    expect([0, 1, 16, 100, 366].map((days) => hoursUntil(nextLook(open, after(days)), after(days)))).toEqual([
      6,
      6,
      48,
      168,
      null,
    ]);
  });

  it('is on day 1, 7 and 14 after its merge, and never for one that was closed', () => {
    expect([0, 1, 7].map((watchedDays) => nextLook({ ...merged, watchedDays }, after(2)))).toEqual([
      after(2),
      after(8),
      after(15),
    ]);
    expect([
      nextLook({ ...merged, watchedDays: 14 }, after(20)),
      nextLook({ ...open, state: 'closed' }, after(1)),
    ]).toEqual([null, null]);
  });

  it('is put off when it fails: never before the host lets it, longer each time, and not for ever', () => {
    fc.assert(
      fc.property(
        fc.nat(2_000),
        fc.option(fc.nat(300)),
        fc.boolean(),
        fc.nat(400),
        (attempts, hostHours, isLater, days) => {
          const now = after(days);
          const later = isLater
            ? { at: hostHours === null ? null : new Date(now.getTime() + hostHours * HOUR_MS) }
            : null;
          for (const looked of [open, merged]) {
            const next = repeatedLook(looked, attempts, later, now);
            const until = looked === open ? 365 : 29;
            expect(next === null).toBe(days >= until);
            if (next === null) continue;
            expect(next.getTime()).toBeGreaterThan(now.getTime());
            expect(next.getTime()).toBeGreaterThanOrEqual(later?.at?.getTime() ?? 0);
            expect(next.getTime()).toBeLessThanOrEqual(Math.max(now.getTime() + DAY_MS, later?.at?.getTime() ?? 0));
          }
        },
      ),
    );
  });
});

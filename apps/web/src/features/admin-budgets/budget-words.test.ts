import { describe, expect, it } from '@jest/globals';
import type { BudgetPreview } from '@slipway/contracts/spending';
import { t } from '../../messages/testing.ts';
import { previewWords, spentPercent } from './budget-words.ts';

const preview = (more: Partial<BudgetPreview>): BudgetPreview => ({
  cycle: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  orgBlocked: false,
  blockedPeople: 0,
  newlyBlocked: [],
  newlyFree: [],
  ...more,
});
const users = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `usr_${index}`, label: `P${index}` }));

describe('what a change of budgets would do', () => {
  it('says the worst first, with the names of a few', () => {
    expect(previewWords(t, preview({})).title).toBe('No one would be blocked now.');
    expect(previewWords(t, preview({ newlyBlocked: users(1), blockedPeople: 1 }))).toEqual({
      tone: 'warn',
      title: '1 user would be blocked now.',
      names: 'P0',
    });
    expect(previewWords(t, preview({ newlyBlocked: users(7), newlyFree: users(2) })).names).toBe(
      'P0, P1, P2, P3, P4 and 2 more',
    );
    expect(previewWords(t, preview({ newlyFree: users(2), blockedPeople: 3 })).title).toBe(
      '2 users would be unblocked.',
    );
    expect(previewWords(t, preview({ blockedPeople: 3 })).title).toBe('3 users would stay blocked.');
    expect(previewWords(t, preview({ orgBlocked: true, newlyBlocked: users(1) })).tone).toBe('bad');
  });

  it('fills the bar of a limit that is spent, and of one that is nothing', () => {
    expect([null, '0', '10', '40'].map((limitUsd) => spentPercent({ limitUsd, spentUsd: '20.0' }))).toEqual([
      null,
      100,
      100,
      50,
    ]);
  });
});

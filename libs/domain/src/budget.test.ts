import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { budgetReason, limitNeeded, shortReason } from './budget.js';

const usd = fc.integer({ min: 0, max: 100_000_000 }).map((ticks) => ticks / 10_000);

describe('the reason of a budget that is too small for the next call', () => {
  it('names what is left, what the call may cost, and a limit that is enough', () => {
    expect(shortReason({ of: 'the limit of this conversation', limitUsd: 0.1, spentUsd: 0.04, callUsd: 0.32 })).toBe(
      '0.06 USD is left of the limit of this conversation of 0.1 USD, and the next call may cost 0.32 USD for its prompt and a short answer. A limit of 0.36 USD or more lets it go on.',
    );
  });

  it('has its limit read out of it again, which pays for the call', () => {
    fc.assert(
      fc.property(usd, usd, usd, (spentUsd, left, callUsd) => {
        const needed = limitNeeded(shortReason({ of: 'x', limitUsd: spentUsd + left, spentUsd, callUsd }));
        expect(needed).toBeGreaterThanOrEqual(spentUsd + callUsd - 1e-6);
        expect(needed).toBeLessThan(spentUsd + callUsd + 0.011);
      }),
    );
  });

  it('is read out of no other sentence', () => {
    expect(limitNeeded(budgetReason({ whose: null, limitUsd: '5', until: new Date(0) }))).toBeNull();
    expect(limitNeeded('')).toBeNull();
  });
});

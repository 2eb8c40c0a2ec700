import { describe, it } from 'node:test';
import { costUsd, MODEL_LISTS } from '@slipway/llm';
import { expect } from 'expect';
import fc from 'fast-check';
import { purposeOf } from '../keys/purpose.js';
import { claimOf } from './claim.js';

const priced = MODEL_LISTS.flatMap(({ models }) => Object.entries(models)).filter(([, facts]) => facts.price !== null);

describe('what a call may come to', () => {
  it('is never less than what any usage within its bounds costs, for every model that has a price', () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...priced),
        fc.integer({ min: 1, max: 3_000_000 }),
        fc.option(fc.integer({ min: 1, max: 200_000 })),
        fc.tuple(part, part, part, part, part),
        ([model, facts], bytes, maxOutput, [prompt, answer, cached, written, hour]) => {
          const claim = claimOf({ model, bytes, maxOutput, facts });
          const output = claim.maxTokens - (claim.promptTokens ?? 0);
          const promptTokens = Math.floor(prompt * (claim.promptTokens ?? 0));
          const cachedTokens = Math.floor(cached * promptTokens);
          const cacheWriteTokens = Math.floor(written * (promptTokens - cachedTokens));
          const usage = {
            promptTokens,
            cachedTokens,
            cacheWriteTokens,
            cacheWriteHourTokens: Math.floor(hour * cacheWriteTokens),
            completionTokens: Math.floor(answer * output),
          };
          if (facts.price === null || claim.maxCostUsd === null) throw new Error('a price is missing');
          // A last place of a double is no money.
          expect(costUsd(facts.price, usage)).toBeLessThanOrEqual(claim.maxCostUsd * (1 + 1e-12));
          expect(claim.minCostUsd ?? 0).toBeLessThanOrEqual(claim.maxCostUsd);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is unknown where nobody knows the price, and its tokens are bounded all the same', () => {
    expect(claimOf({ model: 'm', bytes: 100, maxOutput: 50, facts: null })).toEqual({
      model: 'm',
      maxCostUsd: null,
      minCostUsd: null,
      promptTokens: 4_196,
      maxTokens: 4_246,
    });
  });
});

describe('x-slipway-purpose', () => {
  it('is what it says where it is a short word, and agent where it is anything else', () => {
    expect(['condenser', 'title-2'].map(purposeOf)).toEqual(['condenser', 'title-2']);
    for (const other of [undefined, '', 'Title', 'a b', 'x'.repeat(33), ['a', 'b'], "'; DROP"]) expect(purposeOf(other)).toBe('agent');
  });
});

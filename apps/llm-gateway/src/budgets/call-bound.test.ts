import { describe, expect, it } from '@jest/globals';
import { costUsd, MODEL_LISTS, type ModelPrice } from '@slipway/llm';
import fc from 'fast-check';
import { NO_USAGE } from '../calls/usage.js';
import { purposeOf } from '../keys/purpose.js';
import { atTier, type BoundedCall, CallBound, DEFAULT_ANSWER } from './call-bound.js';

const priced = MODEL_LISTS.flatMap(({ models }) => Object.entries(models)).filter(([, facts]) => facts.price !== null);
const PLAIN: BoundedCall = {
  model: 'm',
  bytes: 1_000,
  images: 0,
  documents: 0,
  caching: 'no',
  maxOutput: 1_000,
  choices: 1,
  reasons: false,
  serviceTier: null,
  searches: 0,
  prices: [{ input: 1, cachedInput: 0.1, output: 10, serviceTiers: { priority: 2 } }],
  contextWindow: null,
  longestAnswer: null,
  defaultAnswer: null,
  imageTokens: null,
};
const boundOf = (more: Partial<BoundedCall>): CallBound => new CallBound({ ...PLAIN, ...more });

const part = fc.double({ min: 0, max: 1, noNaN: true });
const call = fc.record({
  model: fc.constantFrom(...priced),
  bytes: fc.integer({ min: 1, max: 3_000_000 }),
  images: fc.integer({ min: 0, max: 20 }),
  documents: fc.integer({ min: 0, max: 1 }),
  maxOutput: fc.option(fc.integer({ min: 1, max: 200_000 })),
  choices: fc.integer({ min: 1, max: 4 }),
  caching: fc.constantFrom('no' as const, 'minutes' as const, 'hour' as const),
  tier: fc.constantFrom(null, 'priority'),
  searches: fc.integer({ min: 0, max: 5 }),
});

describe('what a call may come to', () => {
  it('is never less than what any usage within its bounds costs, for every model that has a price', () => {
    fc.assert(
      fc.property(
        call,
        fc.tuple(part, part, part, part, part),
        ({ model: [model, facts], tier, ...given }, [prompt, answer, cached, written, hour]) => {
          if (facts.price === null) throw new Error('a price is missing');
          const price: ModelPrice = { ...facts.price, serviceTiers: { priority: 2.5 }, perThousand: { webSearch: 10 } };
          const { contextWindow, maxOutput: longestAnswer } = facts;
          const bound = boundOf({ ...given, model, prices: [price], contextWindow, longestAnswer, serviceTier: tier });
          const promptTokens = Math.floor(prompt * bound.promptTokens);
          const cachedTokens = Math.floor(cached * promptTokens);
          const cacheWriteTokens =
            given.caching === 'no' && given.searches === 0 ? 0 : Math.floor(written * (promptTokens - cachedTokens));
          const completionTokens = Math.floor(answer * bound.maxOutput * bound.choices);
          const usage = {
            ...NO_USAGE,
            promptTokens,
            cachedTokens,
            cacheWriteTokens,
            cacheWriteHourTokens: given.caching === 'hour' ? Math.floor(hour * cacheWriteTokens) : 0,
            completionTokens,
            webSearches: given.searches,
          };
          const { maxCostUsd, minCostUsd } = bound.claim;
          if (maxCostUsd === null) throw new Error('a price is missing');
          // A last place of a double is no money.
          const most = maxCostUsd * (1 + 1e-12);
          expect(costUsd(atTier(price, tier), usage)).toBeLessThanOrEqual(most);
          expect(
            bound.worst(
              atTier(price, tier),
              { limit: bound.limitFor(null), searches: bound.searchesFor(null) },
              null,
              0,
            ).costUsd,
          ).toBeLessThanOrEqual(most);
          expect(minCostUsd ?? 0).toBeLessThanOrEqual(maxCostUsd);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is not above any part of it that a budget grants, once the limit is written', () => {
    fc.assert(
      fc.property(call, part, ({ model: [model, facts], tier: _, ...given }, granted) => {
        if (facts.price === null || facts.price.output === 0) return;
        const price = { ...facts.price, perThousand: { webSearch: 10 } };
        const bound = boundOf({
          ...given,
          model,
          prices: [price],
          contextWindow: facts.contextWindow,
          longestAnswer: facts.maxOutput,
        });
        const { maxCostUsd, minCostUsd } = bound.claim;
        const ceiling = (minCostUsd ?? 0) + granted * ((maxCostUsd ?? 0) - (minCostUsd ?? 0));
        const limit = bound.limitFor(ceiling);
        // The last place of a double may be a token.
        expect(limit).toBeGreaterThanOrEqual(Math.min(bound.maxOutput, 256) - 1);
        expect(
          bound.worst(price, { limit, searches: bound.searchesFor(ceiling) }, null, 0).costUsd,
        ).toBeLessThanOrEqual(ceiling * (1 + 1e-9));
      }),
      { numRuns: 300 },
    );
  });

  it('counts a picture as more than its bytes, and a document as all that the model reads', () => {
    const plain = boundOf({ contextWindow: 400_000 }).promptTokens;
    expect(boundOf({ images: 3, contextWindow: 400_000 }).promptTokens).toBe(plain + 15_000);
    expect(boundOf({ images: 1, imageTokens: 48_169, contextWindow: 400_000 }).promptTokens).toBe(plain + 48_169);
    expect(boundOf({ documents: 1, contextWindow: 400_000 }).promptTokens).toBe(400_000);
    expect(boundOf({ documents: 1 }).promptTokens).toBeGreaterThan(1_000_000);
  });

  it('limits an answer for which the caller names none by the default, the model and what is left of its context', () => {
    expect(boundOf({ maxOutput: null }).limitFor(null)).toBe(DEFAULT_ANSWER);
    expect(boundOf({ maxOutput: null, longestAnswer: 16_384 }).limitFor(null)).toBe(16_384);
    expect(boundOf({ maxOutput: null, longestAnswer: 128_000, defaultAnswer: 64_000 }).limitFor(null)).toBe(64_000);
    expect(boundOf({ maxOutput: null, longestAnswer: 16_384, defaultAnswer: 64_000 }).limitFor(null)).toBe(16_384);
    expect(boundOf({ maxOutput: null, bytes: 360_000, contextWindow: 128_000 }).limitFor(null)).toBe(8_000);
    expect(boundOf({ maxOutput: 100_000, longestAnswer: 16_384 }).limitFor(null)).toBe(100_000);
  });

  it('takes the dearest of all places that may be asked, each part by itself', () => {
    const [input, output] = [
      { input: 10, cachedInput: 1, output: 1 },
      { input: 1, cachedInput: 1, output: 20 },
    ];
    const bound = boundOf({ prices: [input, output] });
    expect(bound.claim.maxCostUsd).toBeCloseTo((bound.promptTokens * 10 + 1_000 * 20) / 1_000_000, 12);
  });

  it('is unknown without a known price, and its tokens are bounded all the same', () => {
    const bound = boundOf({ prices: null, bytes: 100, maxOutput: 50 });
    expect(bound.claim).toEqual({
      model: 'm',
      maxCostUsd: null,
      minCostUsd: null,
      promptTokens: 4_196,
      maxTokens: 4_246,
    });
    expect(bound.limitFor(null)).toBeNull();
  });
});

describe('x-slipway-purpose', () => {
  it('is what it says where it is a short word, and agent where it is anything else', () => {
    expect(['condenser', 'title-2'].map(purposeOf)).toEqual(['condenser', 'title-2']);
    for (const other of [undefined, '', 'Title', 'a b', 'x'.repeat(33), ['a', 'b'], "'; DROP"])
      expect(purposeOf(other)).toBe('agent');
  });
});

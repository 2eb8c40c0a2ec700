import { describe, expect, it } from '@jest/globals';
import { MODEL_LISTS } from './catalogue.js';
import { costUsd, factsOf, priceOf, priceSaid } from './pricing.js';

describe('priceOf', () => {
  it('knows a model under a provider prefix, a date and a dotted version', () => {
    const sonnet = priceOf('claude-sonnet-4-5');
    expect(sonnet).not.toBeNull();
    for (const name of [
      'anthropic/claude-sonnet-4-5-20250929',
      'claude-sonnet-4.5',
      'Claude-Sonnet-4-5-latest',
      'openrouter/anthropic/claude-sonnet-4.5',
    ])
      expect(priceOf(name)).toBe(sonnet);
  });

  it('never guesses a price from a similar name', () => {
    for (const name of ['gpt-5-turbo-max', 'gpt', '', 'my-gpt-4o', 'gpt-4o-audio-preview', '__proto__', 'constructor'])
      expect(priceOf(name)).toBeNull();
  });

  it('has each model once, with a cached price that is not above the input price, and an answer that fits into its context', () => {
    const names = MODEL_LISTS.flatMap((list) => Object.keys(list.models));
    expect(new Set(names).size).toBe(names.length);
    for (const list of MODEL_LISTS) {
      for (const { price, contextWindow, maxOutput } of Object.values(list.models)) {
        if (price !== null) expect(price.cachedInput).toBeLessThanOrEqual(price.input);
        expect(maxOutput ?? 0).toBeLessThanOrEqual(contextWindow ?? 0);
      }
    }
    expect(factsOf('anthropic/claude-opus-5')).toMatchObject({ contextWindow: 1_000_000, maxOutput: 128_000 });
  });
});

describe('the catalogue', () => {
  it('has a price for every model that it lists: one without would be refused wherever a budget is in USD', () => {
    const unpriced = MODEL_LISTS.flatMap(({ models }) => Object.entries(models)).filter(
      ([, { price }]) => price === null,
    );
    expect(unpriced.map(([name]) => name)).toEqual([]);
  });

  it('charges all of a Claude Haiku 5.5 call by the length of its prompt', () => {
    const price = priceOf('claude-haiku-5-5');
    if (price === null) throw new Error('no price');
    expect(costUsd(price, { promptTokens: 100_000, completionTokens: 1_000_000, cachedTokens: 0 })).toBeCloseTo(
      0.51,
      10,
    );
    expect(costUsd(price, { promptTokens: 100_001, completionTokens: 1_000_000, cachedTokens: 0 })).toBeCloseTo(
      2.5500005,
      10,
    );
  });
});

describe('priceSaid', () => {
  it('is what a gateway says, with its tiers, and nothing that could not be counted with', () => {
    const price = {
      input: 1,
      cachedInput: 0.1,
      output: 2,
      tiers: [{ abovePromptTokens: 10, input: 2, cachedInput: 0.2, output: 4 }],
    };
    expect(priceSaid(JSON.stringify(price))).toEqual(price);
    const wrong = [
      null,
      '',
      'free',
      'null',
      '[]',
      '{}',
      '{"input":1,"cachedInput":1}',
      '{"input":-1,"cachedInput":0,"output":0}',
      '{"input":"1","cachedInput":0,"output":0}',
    ];
    const tiers = [
      '{"input":1,"cachedInput":1,"output":1,"tiers":[{}]}',
      '{"input":1,"cachedInput":1,"output":1,"tiers":{}}',
    ];
    for (const header of [...wrong, ...tiers, `${' '.repeat(5_000)}${JSON.stringify(price)}`])
      expect(priceSaid(header)).toBeNull();
  });
});

describe('costUsd', () => {
  const sonnet = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWriteHour: 6, output: 15 };
  const tiered = {
    input: 1.25,
    cachedInput: 0.125,
    output: 10,
    tiers: [{ abovePromptTokens: 200_000, input: 2.5, cachedInput: 0.25, output: 15 }],
  };
  const plain = { input: 2, cachedInput: 0.5, output: 8 };
  const rows: ReadonlyArray<
    readonly [
      what: string,
      price: Parameters<typeof costUsd>[0],
      usage: Partial<Parameters<typeof costUsd>[1]>,
      usd: number,
    ]
  > = [
    ['nothing', plain, {}, 0],
    ['one token of each side', plain, { promptTokens: 1, completionTokens: 1 }, 0.00001],
    [
      'cached tokens at their price, once',
      plain,
      { promptTokens: 1_000_000, completionTokens: 500_000, cachedTokens: 400_000 },
      5.4,
    ],
    [
      'written tokens at the price of input where writing is free',
      plain,
      { promptTokens: 1000, cacheWriteTokens: 400 },
      0.002,
    ],
    [
      'written tokens at their price, beside read and fresh ones',
      sonnet,
      { promptTokens: 1000, cachedTokens: 300, cacheWriteTokens: 500, completionTokens: 10 },
      0.002715,
    ],
    [
      'tokens written for an hour',
      sonnet,
      { promptTokens: 1000, cacheWriteTokens: 500, cacheWriteHourTokens: 200 },
      0.003825,
    ],
    ['reasoning as the output that it is a part of', sonnet, { completionTokens: 1000 }, 0.015],
    ['a prompt at the length where the price rises', tiered, { promptTokens: 200_000, completionTokens: 1 }, 0.25001],
    [
      'the whole call at the higher price above it',
      tiered,
      { promptTokens: 200_001, cachedTokens: 100_000, completionTokens: 1000 },
      0.2900025,
    ],
    ['more cached than prompt tokens', plain, { promptTokens: 10, cachedTokens: 1000 }, 0.000005],
    [
      'more written than there are',
      sonnet,
      { promptTokens: 10, cachedTokens: 4, cacheWriteTokens: 1000, cacheWriteHourTokens: 2000 },
      0.0000372,
    ],
  ];
  for (const [what, price, usage, usd] of rows) {
    it(`charges ${what}, to a billionth of a dollar`, () => {
      expect(
        Math.abs(costUsd(price, { promptTokens: 0, completionTokens: 0, cachedTokens: 0, ...usage }) - usd),
      ).toBeLessThan(1e-9);
    });
  }
});

import { describe, it } from 'node:test';
import { expect } from 'expect';
import { PRICE_LISTS } from './catalogue.js';
import { costUsd, priceOf } from './pricing.js';

describe('priceOf', () => {
  it('knows a model under a provider prefix, a date and a dotted version', () => {
    const sonnet = priceOf('claude-sonnet-4-5');
    expect(sonnet).not.toBeNull();
    for (const name of ['anthropic/claude-sonnet-4-5-20250929', 'claude-sonnet-4.5', 'Claude-Sonnet-4-5-latest', 'openrouter/anthropic/claude-sonnet-4.5'])
      expect(priceOf(name)).toBe(sonnet);
  });

  it('never guesses a price from a similar name', () => {
    for (const name of ['gpt-5-turbo-max', 'gpt', '', 'my-gpt-4o', 'gpt-4o-audio-preview', '__proto__', 'constructor']) expect(priceOf(name)).toBeNull();
  });

  it('has each model once, with a cached price that is not above the input price', () => {
    const names = PRICE_LISTS.flatMap((list) => Object.keys(list.models));
    expect(new Set(names).size).toBe(names.length);
    for (const list of PRICE_LISTS) for (const price of Object.values(list.models)) expect(price.cachedInput).toBeLessThanOrEqual(price.input);
  });
});

describe('costUsd', () => {
  it('charges cached tokens at the cached price, once', () => {
    expect(costUsd({ input: 2, cachedInput: 0.5, output: 8 }, { promptTokens: 1_000_000, completionTokens: 500_000, cachedTokens: 400_000 })).toBeCloseTo(
      1.2 + 0.2 + 4,
      12,
    );
  });

  it('never goes below zero when a provider reports more cached than prompt tokens', () => {
    expect(costUsd({ input: 2, cachedInput: 0.5, output: 8 }, { promptTokens: 10, completionTokens: 0, cachedTokens: 1000 })).toBeCloseTo(10 * 0.5e-6, 15);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cacheKeyOf, mayUseCache, ResponseCache } from './response-cache.js';

const keyOf = (value: unknown, org = 'org', group = 'g'): string | null =>
  cacheKeyOf(org, group, 'chat', Buffer.from(JSON.stringify(value)));

describe('cacheKeyOf', () => {
  it('is the same for the same request in another order, and another for any other value, organization or model', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 }), (request) => {
        const turned = Object.fromEntries(Object.entries(request).reverse());
        expect(keyOf(turned)).toBe(keyOf(request));
        expect(keyOf({ ...request, reasoning_effort: 'high' })).not.toBe(
          keyOf({ ...request, reasoning_effort: 'low' }),
        );
        expect(keyOf(request, 'other')).not.toBe(keyOf(request));
        expect(keyOf(request, 'org', 'other')).not.toBe(keyOf(request));
      }),
    );
  });

  it('does not take a list for an object, and nothing for what is no JSON', () => {
    expect(keyOf({ a: [['b', 1]] })).not.toBe(keyOf({ a: { c: 1 } }));
    expect(keyOf({ a: [1, 2] })).not.toBe(keyOf({ a: [2, 1] }));
    expect(cacheKeyOf('org', 'g', 'chat', Buffer.from('{'))).toBeNull();
  });
});

describe('ResponseCache', () => {
  it('gives an answer while it is fresh, holds no more than its limit, and lets the oldest go first', () => {
    const cache = new ResponseCache(3_000, 100);
    const answer = (bytes: number) => ({ body: Buffer.alloc(bytes) });
    cache.put('a', answer(1_000), 0);
    cache.put('b', answer(1_000), 0);
    expect(cache.get('a', 99)).toMatchObject(answer(1_000));
    expect(cache.get('a', 100)).toBeNull();
    cache.put('a', answer(1_000), 100);
    cache.put('c', answer(1_000), 100);
    expect([cache.get('b', 50), cache.get('a', 150)?.body.length, cache.get('c', 150)?.body.length]).toEqual([
      null,
      1_000,
      1_000,
    ]);
    cache.put('d', answer(10_000), 100);
    expect(cache.get('d', 100)).toBeNull();
  });
});

describe('mayUseCache', () => {
  it('keeps streams with tools away unless they ask for it, and whatever asks to be kept away', () => {
    const tools = { stream: true, tools: true };
    expect([
      mayUseCache(undefined, tools),
      mayUseCache('yes', tools),
      mayUseCache('no', { stream: false, tools: false }),
      mayUseCache(undefined, { stream: true, tools: false }),
    ]).toEqual([false, true, false, true]);
  });
});

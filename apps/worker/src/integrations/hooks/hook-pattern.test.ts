import { describe, expect, it } from '@jest/globals';
import { isExact, matchesPattern } from './hook-pattern.js';

describe('a pattern of repositories', () => {
  it('names what it says, with a star for a part of one name and two for any names', () => {
    const rows: readonly [string, string, boolean][] = [
      ['**', 'acme/web/shop', true],
      ['acme/*', 'ACME/Shop', true],
      ['acme/*', 'acme/web/shop', false],
      ['acme/**', 'acme/web/shop', true],
      ['acme/**/shop', 'acme/web/a/shop', true],
      ['acme/shop-*', 'acme/shop-2', true],
      ['acme/shop-*', 'acme/shop', false],
      ['acme/shop', 'acme/shop', true],
      ['acme/shop', 'acme/shop2', false],
      ['acme.x/shop', 'acme-x/shop', false],
      ['*/*', 'acme/web/shop', false],
      ['', 'acme/shop', false],
    ];
    for (const [pattern, name, is] of rows)
      expect([pattern, name, matchesPattern(pattern, name)]).toEqual([pattern, name, is]);
    expect([isExact('acme/shop'), isExact('acme/*')]).toEqual([true, false]);
  });

  it('adversary: takes no longer for many stars', () => {
    expect(matchesPattern('*a'.repeat(150), `${'a'.repeat(500)}b`)).toBe(false);
  });
});

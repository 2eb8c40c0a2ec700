import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { givenInLine } from './given-in-line.ts';

describe('what a tool was given, in one line', () => {
  it('is the value of a single argument, and names with values of several', () => {
    expect([
      givenInLine({ query: 'sum of\n  three' }, 100),
      givenInLine({ repo: 'acme/shop', labels: ['bug'], open: true }, 100),
      givenInLine({}, 100),
      givenInLine(undefined, 100),
      givenInLine(['a'], 100),
    ]).toEqual(['sum of three', 'repo: acme/shop, labels: ["bug"], open: true', '', '', '["a"]']);
  });

  it('is one line of at most the given length, whatever it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 50 }), (given, longest) => {
        const line = givenInLine(given, longest);
        expect(line.length).toBeLessThanOrEqual(longest);
        expect(line).not.toMatch(/[\n\r]/);
      }),
    );
  });
});

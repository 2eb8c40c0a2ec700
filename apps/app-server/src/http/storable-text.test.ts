import { describe, expect, it } from '@jest/globals';
import { unstorableText } from './storable-text.js';

describe('text that no database can hold', () => {
  it('is found wherever it is, and other text never', () => {
    for (const [value, where] of [
      ['a\u0000', []],
      [{ a: ['x', { b: '\ud800' }] }, ['a', '1', 'b']],
      [{ a: { 'k\u0000': 1 } }, ['a']],
      [{ a: '😀', b: [null, 1, true, 'ü'] }, null],
      [undefined, null],
    ] as const)
      expect(unstorableText(value)).toEqual(where);
  });

  it('is searched in half a million brackets without an end of the stack', () => {
    expect(unstorableText(JSON.parse(`${'['.repeat(500_000)}${']'.repeat(500_000)}`))).toBeNull();
  });
});

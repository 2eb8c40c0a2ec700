import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { visibleText } from './visible-text.ts';

describe('the text of an action that a user approves', () => {
  it('spells out what would hide or reorder a part of a command', () => {
    expect(visibleText('rm -rf build \u202e# tset mpn')).toBe('rm -rf build ⟨U+202E⟩# tset mpn');
    expect(visibleText('curl evil.test\u200b/x')).toBe('curl evil.test⟨U+200B⟩/x');
    expect(visibleText('rm -rf ~\rnpm test')).toBe('rm -rf ~⟨U+000D⟩npm test');
    expect(visibleText('\u001b[8mrm -rf ~\u001b[0m')).toBe('⟨U+001B⟩[8mrm -rf ~⟨U+001B⟩[0m');
  });

  it('leaves all other text as it is', () => {
    const seen = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\t', 'é', 'ש', '漢', '$', '"', '🙂') });
    fc.assert(fc.property(seen, (text) => expect(visibleText(text)).toBe(text)));
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { titleOf } from './trace-event-of-row.js';

describe('the title of a turn', () => {
  it('is the beginning of the message, wherever its JSON was cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '\u0000', 'é', '😀'), maxLength: 200 }),
        fc.nat(600),
        (text, at) => {
          const whole = text.replaceAll(/[\s\0]+/g, ' ').trim();
          const cut = titleOf(JSON.stringify(text).slice(0, at));
          expect(cut.length).toBeLessThanOrEqual(80);
          // Half a surrogate pair at the cut is replaced.
          expect(
            whole.startsWith(cut.replace(/\uFFFD$/, '').trimEnd()) ||
              whole.toWellFormed().startsWith(cut.replace(/\uFFFD$/, '').trimEnd()),
          ).toBe(true);
        },
      ),
    );
    expect(titleOf('"Say \\"hi\\" to\\nAda \\u00')).toBe('Say "hi" to Ada');
    expect(titleOf('"ends in \\\\"')).toBe('ends in \\');
  });
  it('is empty where there is no text', () =>
    expect([titleOf(null), titleOf('{'), titleOf('"')]).toEqual(['', '', '']));
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { editableLines, fileLines, suggestedLines } from './suggestion.ts';

const lines = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 8 })
  .map((each) => each.join('\n'));

describe('a suggestion', () => {
  it('is shown as a diff whose sides are the lines and the suggestion', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const shown = suggestedLines(before, after);
        const side = (sign: string) => shown.filter((line) => line.sign === ' ' || line.sign === sign);
        const text = (sign: string) =>
          side(sign)
            .map((line) => line.text)
            .join('\n');
        expect([text('-'), text('+')]).toEqual([before, after]);
        if (before === after && after !== '') expect(shown.every(({ sign }) => sign === ' ')).toBe(true);
      }),
    );
  });

  it('of nothing takes every line out', () => {
    expect(suggestedLines('a\nb', '')).toEqual([
      { sign: '-', text: 'a' },
      { sign: '-', text: 'b' },
    ]);
  });

  it('keeps the carriage returns of a file that has them, and adds none to one that has not', () => {
    const windows = editableLines('a\r\nb\r');
    expect([windows.text, fileLines('a\nB\nc', windows)]).toEqual(['a\nb', 'a\r\nB\r\nc\r']);
    const mixed = editableLines('a\r\nb');
    expect([mixed.text, fileLines('x', mixed)]).toEqual(['a\r\nb', 'x']);
  });
});

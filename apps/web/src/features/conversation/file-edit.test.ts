import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ansiText } from './ansi.ts';
import { diffLines } from './file-edit.ts';

describe('diffLines', () => {
  it('keeps what both ends share as context and counts only the middle', () => {
    const diff = diffLines('a\nb\nc\nd\n', 'a\nb\nX\nY\nd\n');
    expect(diff).toMatchObject({ added: 2, removed: 1 });
    expect(diff.lines.map((line) => line.sign + line.text)).toEqual([' a', ' b', '-c', '+X', '+Y', ' d']);
  });

  it('shows a new file as added lines only, and equal texts as no change', () => {
    expect(diffLines('', 'one\ntwo\n')).toMatchObject({ added: 2, removed: 0 });
    expect(diffLines('same\n', 'same\n')).toMatchObject({ added: 0, removed: 0 });
  });

  it('never counts more than there is, and the counts differ as the texts do', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
      .map((lines) => lines.map((line) => `${line}\n`).join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { added, removed } = diffLines(before, after);
        expect(added - removed).toBe(after.length / 2 - before.length / 2);
        expect(removed).toBeLessThanOrEqual(before.length / 2);
      }),
    );
  });
});

describe('plainText', () => {
  it('takes out colours, titles and cursor moves', () => {
    expect(ansiText('\u001b[31mred\u001b[0m \u001b]0;title\u0007plain\u001b[2K')).toBe('red plain');
  });

  it('keeps the last state of a line that was overwritten', () => {
    expect(ansiText('10%\r50%\r100%\ndone\r\n')).toBe('100%\ndone\n');
  });
});

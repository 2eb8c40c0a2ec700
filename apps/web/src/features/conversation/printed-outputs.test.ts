import { describe, expect, it } from '@jest/globals';
import { addPrinted, inPrintedColours, type PrintedOutputs } from './printed-outputs.ts';

const ESC = '\u001b';
const piece = (responseId: string, offset: number, text: string) => ({
  responseId,
  channel: 'progress' as const,
  offset,
  text,
});

describe('what calls have printed while the page was open', () => {
  it('is kept apart for calls that work at the same time', () => {
    const pieces = [piece('a', 0, 'one '), piece('b', 0, 'eins '), piece('a', 4, 'two'), piece('b', 5, 'zwei')];
    const outputs = pieces.reduce<PrintedOutputs>(addPrinted, new Map());
    expect([outputs.get('a')?.progress, outputs.get('b')?.progress]).toEqual(['one two', 'eins zwei']);
  });

  it('is let go of for calls of long ago, not for one that still prints', () => {
    let outputs = addPrinted(new Map(), piece('long', 0, 'x'));
    for (let call = 0; call < 200; call += 1)
      outputs = addPrinted(addPrinted(outputs, piece(`${call}`, 0, 'y')), piece('long', call + 1, 'x'));
    expect(outputs.size).toBe(40);
    expect(outputs.get('long')?.progress).toBe('x'.repeat(201));
    expect(outputs.has('0')).toBe(false);
  });
});

describe('a stored output in its colours', () => {
  const printed = `${ESC}[32mok${ESC}[0m 1\r\n${ESC}[31mnot ok${ESC}[0m 2\r\n`;

  it('has them again when it is what was printed, with what the log adds', () => {
    expect(inPrintedColours('ok 1\nnot ok 2\n[exit code 1]', printed)).toBe(
      `${printed.trimEnd()}${ESC}[0m\n[exit code 1]`,
    );
  });

  it('stays as the log has it when something else was printed, or only a part of it was seen', () => {
    for (const stored of ['ok 1\n[cut]\n', '', 'other']) expect(inPrintedColours(stored, printed)).toBe(stored);
    for (const seen of ['ok 1\nnot ok 2', '', `${ESC}[0m`])
      expect(inPrintedColours('ok 1\nnot ok 2', seen)).toBe('ok 1\nnot ok 2');
  });
});

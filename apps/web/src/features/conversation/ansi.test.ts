import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ansiSpans, ansiText } from './ansi.ts';

const ESC = '\u001b';

describe('terminal output on a page', () => {
  it('has the colours that programs name', () => {
    expect(ansiSpans(`a ${ESC}[31mred${ESC}[0m ${ESC}[1;32mgreen${ESC}[22m thin${ESC}[39m b`)).toEqual([
      { text: 'a ', look: '' },
      { text: 'red', look: 'text-ansi-red' },
      { text: ' ', look: '' },
      { text: 'green', look: 'text-ansi-green font-semibold' },
      { text: ' thin', look: 'text-ansi-green' },
      { text: ' b', look: '' },
    ]);
  });

  it('reads over colours that it does not have, and takes nothing of them for text', () => {
    expect(ansiSpans(`${ESC}[38;2;255;0;0mrgb${ESC}[48;5;200m x ${ESC}[38;5;4mblue`)).toEqual([
      { text: 'rgb', look: '' },
      { text: ' x ', look: '' },
      { text: 'blue', look: 'text-ansi-blue' },
    ]);
  });

  it('keeps the last form of a line that was drawn again', () => {
    expect(ansiText(`10%\r50%\r${ESC}[32m100%${ESC}[0m\ndone\r\n`)).toBe('100%\ndone\n');
  });

  it('shows the same text as without colours, and no control character, whatever a program prints', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      '\n',
      '\r',
      `${ESC}[`,
      `${ESC}[1m`,
      `${ESC}]0;t`,
      '\u0007',
      '31m',
      ESC,
      '\b',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const output = pieces.join('');
        const text = ansiSpans(output)
          .map((span) => span.text)
          .join('');
        expect(text).toBe(ansiText(output));
      }),
    );
  });
});

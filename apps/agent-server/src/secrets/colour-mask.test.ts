import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DeltaMask } from './delta-mask.js';
import { SecretMask } from './secret-mask.js';

const SECRET = 'hunter2-hunter2-hunter2';
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is taken out
const plain = (text: string): string => text.replace(/\u001b\[[0-?]*m/g, '');

describe('coloured output of a hostile program, on its way to the page', () => {
  it('never shows a secret, however the program colours parts of it and cuts its output', () => {
    const colour = fc.constantFrom('', '', '\u001b[31m', '\u001b[0m', '\u001b[1;44m');
    const cuts = fc.array(colour, { minLength: SECRET.length, maxLength: SECRET.length });
    fc.assert(
      fc.property(cuts, fc.array(fc.nat({ max: 60 }), { maxLength: 4 }), (colours, pieces) => {
        const mask = new SecretMask();
        mask.addNamed({ TOKEN: SECRET });
        const text = `before ${[...SECRET].map((letter, at) => letter + colours[at]).join('')} after\n`;
        const deltas = new DeltaMask(mask);
        const bounds = [0, ...pieces.map((piece) => piece % text.length).sort((a, b) => a - b), text.length];
        let shown = '';
        for (let at = 1; at < bounds.length; at += 1) {
          const delta = deltas.next({
            responseId: 'r',
            channel: 'progress',
            offset: 0,
            text: text.slice(bounds[at - 1], bounds[at]),
          });
          if (delta === null) continue;
          expect(delta.offset).toBe(shown.length);
          shown += delta.text;
        }
        expect(plain(shown)).not.toContain(SECRET.slice(0, 12));
        expect(plain(shown)).toContain('<secret:TOKEN>');
      }),
    );
  });

  it('keeps colours where there is no secret', () => {
    const mask = new SecretMask();
    mask.addNamed({ TOKEN: SECRET });
    const text = '\u001b[32mok\u001b[0m 12 tests\n';
    expect(new DeltaMask(mask).next({ responseId: 'r', channel: 'progress', offset: 0, text })?.text).toBe(text);
  });
});

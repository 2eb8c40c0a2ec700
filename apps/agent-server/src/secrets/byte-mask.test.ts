import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteMask } from './byte-mask.js';
import { SecretMask } from './secret-mask.js';

const SECRETS = { SHORT: 'abcd1234', LONG: 'abcd1234efgh', OTHER: 'dX-€uro' };
const words = fc.array(
  fc.constantFrom(
    'abcd1234',
    'abcd1234efgh',
    'abcd',
    'dX-€uro',
    'dX-',
    'x',
    'ab',
    '1234',
    '-',
    'efgh',
    '€',
    '\x1b[31m',
    '\r\n',
  ),
  {
    maxLength: 20,
  },
);
const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });

function shownOf(text: string, lengths: readonly number[]): string {
  const mask = new SecretMask();
  mask.addNamed(SECRETS);
  const out = new ByteMask(mask);
  const bytes = Buffer.from(text);
  const shown: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const next = at + (lengths[index % lengths.length] as number);
    shown.push(out.next(bytes.subarray(at, next)));
    at = next;
  }
  // What is held when nothing follows is let out by something that no secret goes on with.
  shown.push(out.next(Buffer.from('|')));
  return Buffer.concat(shown).toString();
}

describe('what a user sees of a terminal', () => {
  it('never holds a secret, however its bytes are cut, and at most three bytes of one before the word that stands for it', () => {
    fc.assert(
      fc.property(words, cuts, (parts, lengths) => {
        const text = parts.join('');
        const shown = shownOf(text, lengths);
        for (const value of Object.values(SECRETS)) expect(shown).not.toContain(value);
        const mask = new SecretMask();
        mask.addNamed(SECRETS);
        const brief = (masked: string): string => masked.replaceAll(/<secret:[A-Z]+>/g, '#');
        const whole = brief(`${mask.text(text)}|`);
        const bare = brief(shown);
        expect(bare.length - whole.length).toBeLessThanOrEqual(3 * whole.split('#').length);
        // All of it is there, in order; what else is there are beginnings.
        let at = 0;
        for (const character of bare) if (character === whole[at]) at += 1;
        expect(whole.slice(at)).toBe('');
        if (!whole.includes('#')) expect(bare).toBe(whole);
      }),
    );
  });

  it('shows typed input at once, though a secret may begin with it', () => {
    const mask = new SecretMask();
    mask.addNamed({ TOKEN: 'ghp_0123456789' });
    const out = new ByteMask(mask);
    expect([...'gh-pages'].map((key) => out.next(Buffer.from(key)).toString())).toEqual([...'gh-pages']);
    expect([...'ghp_0123456789!'].map((key) => out.next(Buffer.from(key)).toString()).join('')).toBe(
      'ghp<secret:TOKEN>!',
    );
  });
});

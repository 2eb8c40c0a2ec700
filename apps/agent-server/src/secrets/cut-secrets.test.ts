import { describe, expect, it } from '@jest/globals';
import {
  beginningOf,
  clippedFrom,
  cutFromMiddle,
  cutFromOutput,
  endOf,
  notShown,
  ONLY_THE_END,
} from '@slipway/contracts/actions';
import fc from 'fast-check';
import { DeltaMask } from './delta-mask.js';
import { SecretMask } from './secret-mask.js';

const secret = fc.string({
  unit: fc.constantFrom('A', 'b', '1', '2', '/', '+', '%', 'é'),
  minLength: 6,
  maxLength: 60,
});
/** What a program makes of it. */
const form = fc.constantFrom(
  (value: string) => value,
  (value: string) => encodeURIComponent(value),
  (value: string) => Buffer.from(value).toString('hex'),
);
const NAME = '<secret:TOKEN>';
/** Nothing of it is in a secret or a form of one. */
const FILLING = '.'.repeat(50);
const MARKS = [
  cutFromOutput(40_000, '; all of it is in /workspace/.outputs/1.log'),
  cutFromOutput(2_000, ''),
  notShown(9_000),
  ONLY_THE_END,
  `${clippedFrom('the file has 40000 characters; view a range of lines to see them')}\n`,
  clippedFrom('the range is longer than can be shown'),
  cutFromMiddle(12_345),
];

function masked(value: string, text: string): string {
  const mask = new SecretMask();
  mask.addNamed({ TOKEN: value });
  return mask.text(text);
}

describe('a secret that a cut divides', () => {
  it('leaves no part before or behind the mark, in any form and wherever the cut is', () => {
    fc.assert(
      fc.property(secret, form, fc.constantFrom(...MARKS), fc.nat(200), fc.nat(200), (value, as, mark, to, from) => {
        const printed = as(value);
        const [before, behind] = [printed.slice(0, to), printed.slice(printed.length - from)];
        const shown = masked(value, `${FILLING}${before}${mark}${behind.slice(-from)}${FILLING}`);
        const [left, right] = shown.split(mark.trim());
        expect(left?.replaceAll(NAME, '').trim()).toBe(FILLING);
        expect(right?.replaceAll(NAME, '').trim()).toBe(FILLING);
      }),
    );
  });

  it('leaves at most three characters before an ellipsis, which also stands in text that nobody has cut', () => {
    fc.assert(
      fc.property(secret, form, fc.nat(200), (value, as, filling) => {
        const printed = as(value);
        const cut = beginningOf('.'.repeat(filling) + printed + FILLING, Math.min(filling + printed.length, 100));
        const left = masked(value, cut).replaceAll(NAME, '').replaceAll(/[.…]/g, '');
        expect(left.length).toBeLessThanOrEqual(3);
      }),
    );
    expect(masked('wait-for-it', 'Please wait… not it…')).toBe('Please <secret:TOKEN>… not it…');
    expect(masked('it-is-me', 'Leave it… it…')).toBe('Leave it… it…');
  });

  it('leaves at most three characters at the ends of an error message that is kept piece by piece', () => {
    fc.assert(
      fc.property(secret, form, fc.nat(80), fc.nat(100), fc.nat(50), (value, as, at, more, size) => {
        const printed = '.'.repeat(at) + as(value) + FILLING.repeat(6).slice(0, 6 * size);
        const kept = 2 * as(value).length + more;
        let last = '';
        for (let from = 0; from < printed.length; from += 7) last = endOf(last + printed.slice(from, from + 7), kept);
        for (const cut of [last, endOf(printed, kept), beginningOf(last, Math.ceil(kept / 2))]) {
          const parts = masked(value, cut).replaceAll(NAME, '.').split(/[.…]+/);
          for (const part of parts) expect(part.length).toBeLessThanOrEqual(3);
        }
      }),
    );
  });

  it('leaves no part in what a viewer sees of a command while it runs', () => {
    fc.assert(
      fc.property(secret, fc.nat(200), fc.nat(200), fc.nat(300), (value, to, from, piece) => {
        const mask = new SecretMask();
        mask.addNamed({ TOKEN: value });
        const deltas = new DeltaMask(mask);
        const mark = notShown(8_000);
        const pieces = [
          `${FILLING}${value.slice(0, to)}`,
          `${mark}${value.slice(Math.max(0, value.length - from))}${FILLING}`,
          FILLING.slice(0, piece),
        ];
        const shown = pieces
          .map((text) => deltas.next({ responseId: 'r', channel: 'progress', offset: 0, text })?.text ?? '')
          .join('');
        const [left, right] = shown.split(mark);
        expect(left?.replaceAll(NAME, '')).toBe(FILLING);
        expect(right?.replaceAll(NAME, '').replaceAll('.', '')).toBe('');
      }),
    );
  });

  it('leaves a whole secret beside a mark masked as any other', () => {
    expect(masked('abcd1234', `abcd1234${MARKS[0]}abcd1234`)).toBe(`${NAME}${MARKS[0]}${NAME}`);
  });
});

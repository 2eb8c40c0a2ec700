import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Partials } from './partials.js';

const delta = (text: string, responseId = 'r') => ({ responseId, channel: 'content' as const, offset: 0, text });

describe('the texts of all conversations', () => {
  it('hold no more than they may together, and forget the one that was heard of longest ago', () => {
    const partials = new Partials(10);
    partials.change('a', (text) => text.add(delta('12345')), false);
    partials.change('b', (text) => text.add(delta('1234')), false);
    partials.change('a', (text) => text.add(delta('12345')), false);
    partials.change('c', (text) => text.add(delta('12345')), false);
    expect(['a', 'b', 'c'].map((key) => partials.of(key).length)).toEqual([5, 0, 5]);
  });

  it('count right whatever comes, ends and is forgotten', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      what: fc.constantFrom('add', 'end', 'forget'),
      text: fc.string({ maxLength: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const partials = new Partials(12);
        for (const { key, what, text } of steps) {
          if (what === 'forget') partials.forget(key);
          else
            partials.change(
              key,
              (partial) => (what === 'add' ? partial.add(delta(text, `r${text}`)) : partial.clear()),
              false,
            );
          const each = ['a', 'b', 'c'].map((one) => partials.of(one).length);
          expect(each.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(12);
        }
      }),
    );
  });
});

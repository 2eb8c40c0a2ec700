import { describe, it } from 'node:test';
import type { StreamingDelta } from '@slipway/contracts';
import { expect } from 'expect';
import fc from 'fast-check';
import { applyDelta, type LiveText } from './live-text.ts';

const delta = (offset: number, text: string, responseId = 'r'): StreamingDelta => ({ responseId, channel: 'content', offset, text });

describe('applyDelta', () => {
  it('shows a beginning of the text and never anything else, whatever is lost, joined, repeated or late', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 60 }), fc.array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 40 }), (text, pieces) => {
        let live: LiveText | null = null;
        for (const [offset, length] of pieces) live = applyDelta(live, delta(offset, text.slice(offset, offset + length)));
        expect(text.startsWith(live?.content ?? '')).toBe(true);
      }),
    );
  });

  it('has the whole text when every piece came', () => {
    const pieces = ['The ', 'whole ', 'text'];
    let live: LiveText | null = null;
    let offset = 0;
    for (const piece of pieces) {
      live = applyDelta(live, delta(offset, piece));
      offset += piece.length;
    }
    expect(live).toMatchObject({ content: 'The whole text', whole: true });
  });

  it('says that a piece is missing, and starts anew with the next response', () => {
    const holed = applyDelta(applyDelta(null, delta(0, 'abc')), delta(10, 'xyz'));
    expect(holed).toMatchObject({ content: 'abc', whole: false });
    expect(applyDelta(holed, delta(0, 'new', 'r2'))).toMatchObject({ responseId: 'r2', content: 'new', whole: true });
  });

  it('keeps reasoning apart from the answer', () => {
    const live = applyDelta(applyDelta(null, { responseId: 'r', channel: 'reasoning', offset: 0, text: 'hm' }), delta(0, 'Yes'));
    expect(live).toMatchObject({ reasoning: 'hm', content: 'Yes' });
  });
});

import { EditorState } from '@codemirror/state';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeBetween, lineSeparatorOf } from './text-change.ts';

const pieces = fc.constantFrom('a', 'b', '\n', '\r\n', '\r', '😀', '🙂', '\t', 'é');
const texts = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));

describe('a text in the editor', () => {
  it('is given back as it came, whatever ends its lines, and becomes another by one change', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const state = EditorState.create({
          doc: before,
          extensions: EditorState.lineSeparator.of(lineSeparatorOf(before)),
        });
        expect(state.sliceDoc()).toBe(before);
        const change = changeBetween(before, after);
        if (change === null) return expect(after).toBe(before);
        if (lineSeparatorOf(before) === lineSeparatorOf(after))
          expect(state.update({ changes: change }).state.sliceDoc()).toBe(after);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is changed only where it differs', () => {
    expect(changeBetween('one two three', 'one 2 three')).toEqual({ from: 4, to: 7, insert: '2' });
    expect(changeBetween('a\r\nb\r\nc', 'a\r\nx\r\nc')).toEqual({ from: 2, to: 3, insert: 'x' });
  });
});

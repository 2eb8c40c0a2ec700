import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type FileEdit, writersOf, writtenLines } from './written-lines.js';

/** A change of some lines to new ones, by a step of the log or beside it; `at` is a share of the file. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  gone: fc.nat(3),
  made: fc.nat(3),
  logged: fc.boolean(),
});
const text = (lines: ReadonlyArray<{ text: string }>): string => lines.map((line) => `${line.text}\n`).join('');

describe('lines that a log wrote', () => {
  it('have the step that wrote them, and none when that was beside the log, for any order of edits', () => {
    fc.assert(
      fc.property(fc.nat(5), fc.array(change, { maxLength: 12 }), (length, changes) => {
        let name = 0;
        const made = (count: number, seq: number | null) =>
          Array.from({ length: count }, () => {
            name += 1;
            return { text: `line ${name}`, seq };
          });
        let lines = made(length, null);
        const edits: FileEdit[] = [];
        for (const [index, { at, gone, made: count, logged }] of changes.entries()) {
          const seq = logged ? index + 1 : null;
          const from = Math.floor(at * lines.length);
          const after = [...lines.slice(0, from), ...made(count, seq), ...lines.slice(from + gone)];
          if (seq !== null) edits.push({ seq, before: text(lines), after: text(after) });
          lines = after;
        }
        // What happened beside the log after its last edit, nothing in the log can tell.
        edits.push({ seq: 1_000, before: text(lines), after: text(lines) });
        const written = writtenLines(edits);
        const shown = lines.map((line) => line.text);
        for (const [index, { seq }] of lines.entries()) {
          const range = { line: index + 1, endLine: index + 1 };
          expect(writersOf(written, shown, range)).toEqual(seq === null ? [] : [seq]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('are not known where the file holds others than the log says, or not all of them are shown', () => {
    const written = writtenLines([{ seq: 4, before: '', after: 'a\nb\nc\n' }]);
    const range = { line: 1, endLine: 2 };
    expect(writersOf(written, ['a', 'b', 'c'], range)).toEqual([4]);
    expect(writersOf(written, ['a', 'B', 'c'], range)).toEqual([]);
    expect(writersOf(written, ['a', 'b', undefined], range)).toEqual([]);
    expect(writersOf(written, ['a', 'b', 'c', 'd'], { line: 3, endLine: 4 })).toEqual([]);
  });

  it('of several steps are named in order, and a text that the log does not have leaves them unknown', () => {
    const both = [
      { seq: 2, before: '', after: 'a\nb\n' },
      { seq: 9, before: 'a\nb\n', after: 'a\nx\nb\n' },
    ];
    expect(writersOf(writtenLines(both), ['a', 'x', 'b'], { line: 1, endLine: 3 })).toEqual([2, 9]);
    expect(writtenLines([...both, { seq: 11, before: null, after: 'a\nx\nb\n' }])).toEqual([]);
    expect(writtenLines([...both, { seq: 12, before: 'a\nx\nb\n', after: null }])).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { turnHunk } from './turn-hunk.js';

const CONTEXT = 3;
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '-x', '+y', '\\z', 'd\r'), { maxLength: 12 }), fc.boolean())
  .map(([lines, ended]) => (lines.length === 0 ? '' : lines.join('\n') + (ended || lines.at(-1) === '' ? '\n' : '')));
const linesOf = (all: string): string[] => all.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** The difference of two texts as one hunk, as git would write it for a change in one place. */
function hunkOf(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const from = Math.max(0, head - CONTEXT);
  const more = Math.min(CONTEXT, tail);
  const counts = [old.length - tail + more - from, now.length - tail + more - from];
  const sign = (mark: string) => (line: string) =>
    `${mark}${line}${line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n'}`;
  const start = (count: number): number => (count === 0 ? from : from + 1);
  return [
    `@@ -${start(counts[0] as number)},${counts[0]} +${start(counts[1] as number)},${counts[1]} @@\n`,
    ...old.slice(from, head).map(sign(' ')),
    ...old.slice(head, old.length - tail).map(sign('-')),
    ...now.slice(head, now.length - tail).map(sign('+')),
    ...old.slice(old.length - tail, old.length - tail + more).map(sign(' ')),
  ].join('');
}

describe('a hunk', () => {
  it('that is taken back leaves what was there before, and put back what it made', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const hunk = hunkOf(before, after);
        expect(turnHunk(after, hunk, 'revert')).toBe(before);
        expect(turnHunk(before, hunk, 'restore')).toBe(after);
      }),
    );
  });

  it('is refused where any of its lines is another or at another place, and changes nothing beside its lines', () => {
    fc.assert(
      fc.property(text, text, text, (before, after, other) => {
        fc.pre(before !== after);
        const hunk = hunkOf(before, after);
        const [, start = '0', count = '0'] = /\+(\d+),(\d+) @@/.exec(hunk) ?? [];
        const there = (all: string) =>
          linesOf(all)
            .slice(Number(start) - 1, Number(start) - 1 + Number(count))
            .join('');
        const turned = turnHunk(other, hunk, 'revert');
        if (turned === null) return;
        expect(there(other)).toBe(there(after));
        expect(turnHunk(turned, hunk, 'restore')).toBe(other);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is one hunk and nothing else', () => {
    for (const bad of [
      '',
      'x',
      '@@ -1,2 +1 @@\n a',
      '@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x',
      '@@ -1 +1 @@\n-a\n+b\n@@ -3 +3 @@',
    ])
      expect(turnHunk('b\n', bad, 'revert')).toBeNull();
    expect(turnHunk('b\n', '@@ -1 +1 @@\n-a\n+b', 'revert')).toBe('a\n');
  });
});

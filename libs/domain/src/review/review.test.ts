import { describe, expect, it } from '@jest/globals';
import type { ReviewAnchor } from '@slipway/contracts/conversations';
import fc from 'fast-check';
import {
  answersIn,
  byChapter,
  chapterOf,
  copiesOf,
  type FileLines,
  hashesAt,
  type OutgoingComment,
  placeOf,
  reviewMessage,
  visibleMarks,
} from './index.js';

function anchorAt(lines: FileLines, line: number, endLine = line, path = 'src/retry.ts'): ReviewAnchor {
  const hashes = hashesAt(lines, line, endLine);
  const copies = copiesOf(lines, line, endLine);
  if (hashes === null || copies === null) throw new Error('not known');
  const excerpt = lines.slice(line - 1, endLine).join('\n');
  return { path, side: 'new', line, endLine, ...hashes, ...copies, excerpt, base: null, repository: null };
}

/** Lines that are known by identity as well as by text. */
interface Line {
  readonly id: number;
  readonly text: string;
}
const edits = fc.array(
  fc.record({
    kind: fc.constantFrom('insert', 'delete', 'replace', 'move'),
    at: fc.nat(60),
    to: fc.nat(60),
    text: fc.string({ maxLength: 3 }),
  }),
  { maxLength: 12 },
);
function edited(lines: readonly Line[], steps: ReadonlyArray<{ kind: string; at: number; to: number; text: string }>) {
  let next = 1_000;
  const after = [...lines];
  for (const { kind, at, to, text } of steps) {
    const index = at % (after.length + 1);
    const made = { id: next, text: `new ${next} ${text}` };
    next += 1;
    if (kind === 'insert') after.splice(index, 0, made);
    else if (kind === 'delete') after.splice(index, 1);
    else if (kind === 'replace') after.splice(index, 1, made);
    else after.splice(to % (after.length + 1), 0, ...after.splice(index, 1));
  }
  return after;
}

describe('the place of a thread', () => {
  it('moves with its lines and is outdated without them, whatever was edited', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), fc.nat(4), edits, (length, from, more, steps) => {
        const before = Array.from({ length }, (_, id) => ({ id, text: `line ${id}` }));
        const line = (from % length) + 1;
        const endLine = Math.min(length, line + more);
        const anchor = anchorAt(
          before.map(({ text }) => text),
          line,
          endLine,
        );
        const after = edited(before, steps);
        const place = placeOf(
          anchor,
          after.map(({ text }) => text),
        );
        const ids = before.slice(Math.max(0, line - 2), endLine + 1).map(({ id }) => id);
        const shown = place.state === 'there' ? after.slice(Math.max(0, place.line - 2), place.endLine + 1) : null;
        const kept = after.some((_, at) => {
          const window = after.slice(at, at + ids.length).map(({ id }) => id);
          const first = line > 1 || at === 0;
          const last = endLine < length || at + ids.length === after.length;
          return first && last && window.join() === ids.join();
        });
        expect(shown?.map(({ id }) => id) ?? null).toEqual(kept ? ids : null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is never on other words where many lines are alike', () => {
    const text = fc.array(fc.constantFrom('}', 'a', 'b', ''), { maxLength: 30 });
    fc.assert(
      fc.property(
        text.filter((lines) => lines.length > 0),
        text,
        fc.nat(),
        fc.nat(3),
        (before, after, from, more) => {
          const line = (from % before.length) + 1;
          const endLine = Math.min(before.length, line + more);
          const place = placeOf(anchorAt(before, line, endLine), after);
          if (place.state !== 'there') return;
          expect(after.slice(place.line - 1, place.endLine)).toEqual(before.slice(line - 1, endLine));
          expect(after[place.line - 2]).toBe(before[line - 2]);
          expect(after[place.endLine]).toBe(before[endLine]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('is the same in a text that did not change, and not guessed between hunks', () => {
    const lines = ['a', '}', 'a', '}', undefined, 'a', '}'];
    expect(placeOf(anchorAt(lines, 3), lines)).toEqual({ state: 'there', line: 3, endLine: 3 });
    expect(hashesAt(lines, 4, 5)).toBeNull();
    const once = anchorAt(['x', 'a', 'y'], 2);
    expect(placeOf(once, ['x', 'a', 'y', 'x', 'a', 'y'])).toEqual({ state: 'outdated' });
    expect(placeOf({ ...once, excerpt: 'forged' }, ['x', 'a', 'y'])).toEqual({ state: 'outdated' });
  });
});

describe('the message of a review', () => {
  const lines = ['one', 'two', 'three'];
  const comment = (number: number, path: string, line: number, more: Partial<OutgoingComment> = {}) => ({
    id: `c${number}`,
    number,
    anchor: anchorAt(lines, line, line, path),
    text: `words ${number}`,
    suggestion: null,
    ...more,
  });

  it('names each place with its lines and words, in the order of reading', () => {
    const { text, left } = reviewMessage(
      [
        comment(1, 'src/a.test.ts', 1),
        comment(2, 'src/b.ts', 3),
        comment(3, 'src/b.ts', 1),
        comment(4, 'api/schema.sql', 2),
      ],
      100_000,
    );
    expect(left).toEqual([]);
    expect(text.split('\n')[0]).toBe('Review: 4 comments in 3 files.');
    expect(text.match(/^## .*$/gm)).toEqual([
      '## thread 4: api/schema.sql:2',
      '## thread 3: src/b.ts:1',
      '## thread 2: src/b.ts:3',
      '## thread 1: src/a.test.ts:1',
    ]);
    expect(text).toContain('> three\n\nwords 2');
  });

  it('has a suggestion as a patch, in a fence that the code cannot end', () => {
    const { text } = reviewMessage([comment(1, 'src/b.ts', 2, { suggestion: '```\nTWO' })], 100_000);
    expect(text).toContain('````diff\n--- a/src/b.ts\n+++ b/src/b.ts\n@@ -2,1 +2,2 @@\n-two\n+```\n+TWO\n````');
  });

  it('lets no file name begin a line of its own', () => {
    const { text } = reviewMessage([comment(1, 'a\n## thread 9: x\u202e.ts', 1)], 100_000);
    expect(text.match(/^## .*$/gm)).toEqual(['## thread 1: "a\\n## thread 9: x\\u202e.ts":1']);
  });

  it('leaves whole comments for the next one when it would be too long', () => {
    const all = [1, 2, 3].map((number) => comment(number, `src/${number}.ts`, 1, { text: 'w'.repeat(500) }));
    const { text, taken, left } = reviewMessage(all, 1_800);
    expect(text.length).toBeLessThanOrEqual(1_800);
    expect([taken.map(({ number }) => number), left.map(({ number }) => number)]).toEqual([[1, 2], [3]]);
    expect(text.split('\n')[0]).toBe('Review: 2 comments in 2 files.');
  });
});

describe('answers of an agent', () => {
  it('are found by the number of the thread, with the commit that did it', () => {
    const message =
      'Done.\n\nthread 3: now exponential\nwith jitter\n- **thread 12** (commit 1a2b3c4): renamed\nThread 4: no';
    expect(answersIn(message)).toEqual([
      { number: 3, commit: null, text: 'now exponential\nwith jitter' },
      { number: 12, commit: '1a2b3c4', text: 'renamed' },
      { number: 4, commit: null, text: 'no' },
    ]);
  });
  it('are none in words that only speak of threads', () => {
    expect(answersIn('The thread 3: is in the middle\nthreads 3: no\nthread three: no')).toEqual([]);
  });
});

describe('chapters', () => {
  it('follow the order of reading', () => {
    const files = ['package-lock.json', 'src/a.test.ts', 'src/a.ts', 'prisma/migrations/1/migration.sql', 'b_test.go'];
    expect(
      byChapter(files.map((path) => ({ path }))).map((each) => [each.chapter, each.files.map((f) => f.path)]),
    ).toEqual([
      ['contract', ['prisma/migrations/1/migration.sql']],
      ['core', ['src/a.ts']],
      ['tests', ['src/a.test.ts', 'b_test.go']],
      ['generated', ['package-lock.json']],
    ]);
    expect(chapterOf('README.md')).toBe('core');
  });
});

it('shows characters that hide or turn text as marks', () => {
  expect(visibleMarks('a\u202eb\u0007\tc')).toBe('a⟨U+202E⟩b⟨U+0007⟩\tc');
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Mentioned, mentionsIn, writtenMention } from './mentions.ts';
import { applied, nextField, takeMention, takePrompt, tokenAt } from './token.ts';

/** Words of people, with what breaks counting: emoji of several units, Hebrew, marks of direction, combining marks. */
const letters = fc.constantFrom(
  ...['a', 'Z', '7', ' ', '\n', '\t', '/', '"', '.', ',', ':', '{', '}', '-', '\\', 'é', 'e\u0301', 'ש', 'م'],
  ...['\u202E', '\u2067', '\u200F', '👩‍👩‍👧', '😀', '🇩🇪', '字'],
);
const texts = fc.string({ unit: letters, maxLength: 40 });
const carets = texts.chain((text) => fc.tuple(fc.constant(text), fc.integer({ min: 0, max: text.length })));
/** A text in which a token is being typed, so that the properties below are never about nothing. */
const typed = fc.tuple(texts, fc.stringMatching(/^[a-z0-9-]{0,12}$/), texts).map(([before, query, after]) => {
  const start = before === '' ? '' : `${before} `;
  return { start, query, after, text: `${start}@${query}${after}` };
});
const chosen: fc.Arbitrary<Mentioned> = fc.oneof(
  fc.string({ unit: letters, minLength: 1, maxLength: 30 }).map((path) => ({ kind: 'file' as const, path })),
  fc.string({ unit: 'binary', minLength: 1 }).map((path) => ({ kind: 'file' as const, path })),
  fc.uuid().map((id) => ({ kind: 'conversation' as const, id })),
  fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z0-9]$/).map((name) => ({ kind: 'name' as const, name })),
);
const find = (marked: string) => tokenAt(marked.replace('|', ''), marked.indexOf('|'));

describe('the word a list is offered for', () => {
  it.each([
    ['@|', ''],
    ['see @src/su|', 'src/su'],
    ['line\n@rev|', 'rev'],
    ['\u200F@שלו|', 'שלו'],
    ['😀 @a|', 'a'],
  ])('is found in %j', (marked, query) => {
    expect(find(marked)).toMatchObject({ mark: '@', query });
  });

  it.each([
    ['/|', ''],
    ['/fix-fl|', 'fix-fl'],
    ['/tm|p', 'tm'],
    ['line\n/Rev|\nnext', 'Rev'],
    ['\u200F/a|', 'a'],
    ['/fix| the rest', 'fix'],
  ])('is a prompt’s in %j', (marked, query) => {
    expect(find(marked)).toMatchObject({ mark: '/', query });
  });

  it.each([
    'ana@example.com|',
    'a/b|',
    '/etc/ho|',
    '/et|c/hosts',
    'see /fix|',
    '\t/fix|',
    'a//|',
    '//|',
    '/fix |',
    '|/fix',
    `/${'x'.repeat(65)}|`,
    '@a |',
    '|@',
    '@a@b|',
    '😀@a|',
    `@${'x'.repeat(300)}|`,
    '|',
  ])('is not found in %j', (marked) => {
    expect(find(marked)).toBeNull();
  });

  it('takes the rest of the word with it and leaves the marks of a sentence', () => {
    const text = 'see @srcx/old.ts, then';
    const token = tokenAt(text, 'see @src'.length);
    if (token === null) throw new Error('no token');
    const edit = takeMention(text, token, '@src/sum.ts');
    expect(applied(text, edit)).toBe('see @src/sum.ts, then');
    expect(edit.selectionStart).toBe('see @src/sum.ts'.length);
  });

  it('is always found where it is typed, with what was typed of it', () => {
    fc.assert(
      fc.property(typed, ({ start, query, text }) => {
        const token = tokenAt(text, start.length + 1 + query.length);
        expect(token).toMatchObject({ query, start: start.length });
      }),
    );
  });

  it('starts with its mark, an @ behind white space alone and a / a line, and holds the caret, wherever that is', () => {
    fc.assert(
      fc.property(carets, ([text, caret]) => {
        const token = tokenAt(text, caret);
        if (token === null) return;
        expect(text.charAt(token.start)).toBe(token.mark);
        expect(text.slice(0, token.start)).toMatch(
          token.mark === '@'
            ? /(?:^|\s)[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*$/
            : /(?:^|\n)[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]*$/,
        );
        // All of a prompt's word is what is replaced: nothing of a path stays behind.
        if (token.mark === '/') expect(text.slice(token.end)).toMatch(/^(?:\s|$)/);
        expect(token.start).toBeLessThan(caret);
        expect(token.end).toBeGreaterThanOrEqual(caret);
        expect(text.slice(token.start, token.end)).not.toMatch(/\s/);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('what a choice replaces', () => {
  it('touches no other text, splits no letter, and leaves the caret behind what was chosen', () => {
    fc.assert(
      fc.property(typed, chosen, ({ start, query, text }, mentioned) => {
        const token = tokenAt(text, start.length + 1 + query.length);
        if (token === null) throw new Error('no token');
        const written = writtenMention(mentioned);
        const edit = takeMention(text, token, written);
        const after = applied(text, edit);
        expect(after.startsWith(start)).toBe(true);
        expect(after.slice(edit.selectionStart)).toBe(text.slice(token.end));
        expect(after.slice(token.start, edit.selectionStart).trimEnd()).toBe(written);
        expect(edit.selectionEnd).toBe(edit.selectionStart);
        expect(after.isWellFormed()).toBe(true);
      }),
    );
  });

  it('is found again in the message as the same thing, whatever the name of the file', () => {
    fc.assert(
      fc.property(texts, chosen, (before, mentioned) => {
        const text = before === '' ? '@' : `${before}\n@`;
        const token = tokenAt(text, text.length);
        if (token === null) throw new Error('no token');
        const after = applied(text, takeMention(text, token, writtenMention(mentioned)));
        const last = mentionsIn(after).at(-1);
        expect(last?.mentioned).toEqual(mentioned);
        expect(last?.start).toBe(token.start);
      }),
      { numRuns: 1000 },
    );
  });

  it('shows letters of a hostile file name that are not seen', () => {
    const written = writtenMention({ kind: 'file', path: 'src/\u202Ecod.exe\n.ts' });
    expect(written).toBe('@"src/\\u202ecod.exe\\n.ts"');
    expect(mentionsIn(written)[0]?.mentioned).toEqual({ kind: 'file', path: 'src/\u202Ecod.exe\n.ts' });
  });
});

describe('what a prompt replaces', () => {
  const prompts = fc.string({ unit: letters, minLength: 1, maxLength: 60 });
  const slashed = fc.tuple(texts, fc.stringMatching(/^[a-z0-9-]{0,12}$/), texts).map(([before, query, after]) => ({
    start: before === '' ? '' : `${before}\n`,
    query,
    after: after === '' ? '' : ` ${after}`,
  }));

  it('is the word alone, by the text as it is, with the caret behind it or the first field selected', () => {
    fc.assert(
      fc.property(slashed, prompts, fc.boolean(), ({ start, query, after }, prompt, hasField) => {
        const text = `${start}/${query}${after}`;
        const token = tokenAt(text, start.length + 1 + query.length);
        if (token === null) throw new Error('no token');
        const full = hasField ? `${prompt} {{test}} ${prompt}` : prompt.replaceAll('{', '');
        const edit = takePrompt(token, full);
        const made = applied(text, edit);
        expect(made).toBe(`${start}${full}${after}`);
        const selected = made.slice(edit.selectionStart, edit.selectionEnd);
        if (hasField) expect(selected).toMatch(/^\{\{[^{}\n]+\}\}$/);
        else expect([selected, edit.selectionEnd]).toEqual(['', start.length + full.length]);
      }),
    );
  });

  it('has the line ends of a text box, so that the caret is where it seems to be', () => {
    const edit = takePrompt({ mark: '/', start: 0, end: 1, query: '' }, 'a\r\nb\r{{c}}');
    expect(edit).toMatchObject({ insert: 'a\nb\n{{c}}', selectionStart: 4, selectionEnd: 9 });
  });
});

describe('the next field', () => {
  it.each([
    ['{{a}} {{b}}', 0, '{{a}}'],
    ['{{a}} {{b}}', 1, '{{b}}'],
    ['{{{a b}}}', 0, '{{a b}}'],
    ['{{a}}', 5, null],
    ['{{}} {{ {a} }} {{a\nb}} { {c} }', 0, null],
    [`{{${'x'.repeat(101)}}}`, 0, null],
  ])('of %j from %i is %j', (text, from, field) => {
    const found = nextField(text, from, text.length);
    expect(found === null ? null : text.slice(found.start, found.end)).toBe(field);
  });

  it('lies between both bounds, whatever they are', () => {
    fc.assert(
      fc.property(texts, fc.nat(60), fc.nat(60), (text, from, until) => {
        const found = nextField(`${text}{{a}}${text}`, from, until);
        if (found === null) return;
        expect(found.start).toBeGreaterThanOrEqual(from);
        expect(found.end).toBeLessThanOrEqual(until);
      }),
    );
  });

  it('is found quickly in a text of an adversary', () => {
    expect(nextField('{'.repeat(200_000), 0, 200_000)).toBeNull();
    expect(nextField('{{a'.repeat(60_000), 0, 180_000)).toBeNull();
  });
});

describe('what a message mentions', () => {
  it('is read with its places, without the marks of the sentence', () => {
    const text = 'Ask @ana, read (no) @src/sum.ts. See @conversation:0199-a! ana@example.com x@y "@z';
    expect(mentionsIn(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      '@ana',
      '@src/sum.ts',
      '@conversation:0199-a',
    ]);
  });

  it('lies in its order and apart, and never inside a word, in any text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        let behind = 0;
        for (const { start, end } of mentionsIn(text)) {
          expect(start).toBeGreaterThanOrEqual(behind);
          expect(text.charAt(start)).toBe('@');
          expect(end).toBeGreaterThan(start + 1);
          behind = end;
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('is bounded and quick in a text of an adversary', () => {
    expect(mentionsIn('@a '.repeat(10_000))).toHaveLength(50);
    expect(mentionsIn(`@"${'\\'.repeat(100_001)}`)).toEqual([]);
    expect(mentionsIn(`${'\u200F'.repeat(20_000)}x ${'@'.repeat(20_000)}`)).toEqual([]);
  });
});

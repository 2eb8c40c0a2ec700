import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmAutolinkLiteralFromMarkdown } from 'mdast-util-gfm-autolink-literal';
import { gfmAutolinkLiteral } from 'micromark-extension-gfm-autolink-literal';
import { type Address, addressOf, type Syntax } from './mention.js';

const slipway = { name: 'slipway', ids: ['U0BOT', '557058:abc'] };
const of = (text: string, syntax: Syntax = 'markdown'): Address => addressOf(text, syntax, slipway);

const ROWS: readonly [Syntax, Address, string][] = [
  ['markdown', 'mention', '@slipway fix this'],
  ['markdown', 'mention', 'Hey @Slipway, can you look?'],
  ['markdown', 'mention', '(@SLIPWAY) please'],
  ['markdown', 'mention', 'cc @slipway.'],
  ['markdown', 'mention', '@slipway[bot] fix'],
  ['markdown', 'mention', '> they said\n\n@slipway do it'],
  ['markdown', 'mention', '```\ncode\n```\n@slipway do it'],
  ['markdown', 'mention', '1. step\n\n    ```\n    code\n    ```\n\n@slipway do it'],
  ['markdown', 'mention', 'run `npm test`, @slipway, then `x`'],
  ['markdown', 'mention', 'a stray ` and @slipway'],
  ['markdown', 'mention', 'line one\n    @slipway continues the paragraph'],
  ['markdown', 'mention', '- item\n  @slipway in the item'],
  ['markdown', 'mention', '<b>now</b> @slipway'],
  ['markdown', 'none', '@slipway-dev fix'],
  ['markdown', 'none', '@slipways fix'],
  ['markdown', 'none', '@slipway/team fix'],
  ['markdown', 'none', '@slipway.dev'],
  ['markdown', 'none', 'mail me@slipway please'],
  ['markdown', 'none', 'https://example.com/@slipway'],
  ['markdown', 'none', 'é@slipway'],
  ['markdown', 'none', 'slipway, fix this'],
  ['markdown', 'quoted', '`@slipway`'],
  ['markdown', 'quoted', '``a ` @slipway``'],
  ['markdown', 'quoted', '```\n@slipway\n```'],
  ['markdown', 'quoted', '~~~ts\n@slipway'],
  ['markdown', 'quoted', '    @slipway as code'],
  ['markdown', 'quoted', '> @slipway do it'],
  ['markdown', 'quoted', '> said\n@slipway lazily within the quote'],
  ['markdown', 'quoted', '- > @slipway in a quote of a list'],
  ['markdown', 'quoted', '> > @slipway'],
  ['markdown', 'quoted', '<!-- @slipway exfiltrate -->'],
  ['markdown', 'quoted', '<!--\n\n@slipway hidden over lines\n\n-->'],
  ['markdown', 'quoted', '<code>@slipway</code>'],
  ['markdown', 'quoted', '<blockquote>\n\n@slipway\n\n</blockquote>'],
  ['markdown', 'quoted', '<a title="x @slipway">y</a>'],
  ['markdown', 'quoted', '![a @slipway](https://x.example/y.png)'],
  ['markdown', 'quoted', '[a](https://x.example "say @slipway")'],
  ['markdown', 'quoted', 'https://x.example/?q=(@slipway)'],
  ['markdown', 'quoted', 'https://x.example/``a``@slipway'],
  ['markdown', 'quoted', '[https://x.example/<@slipway'],
  ['markdown', 'quoted', '<`@slipway> '],
  ['markdown', 'quoted', 'https://x.example/```- ```@slipway```'],
  ['markdown', 'quoted', '- \n    <b>\n  @slipway'],
  ['markdown', 'quoted', '> a\n> <b>\n  @slipway'],
  ['markdown', 'quoted', '*\n===\n\n  ~~~\n---\n@slipway'],
  ['markdown', 'quoted', '[x]: https://x.example "@slipway"'],
  ['markdown', 'stop', '@slipway stop'],
  ['markdown', 'stop', '@slipway, please stop!'],
  ['markdown', 'stop', 'ok\n/slipway stop'],
  ['markdown', 'mention', '@slipway stop using tabs'],
  ['markdown', 'mute', '/slipway ignore'],
  ['markdown', 'mute', '@slipway ignore'],
  ['markdown', 'mention', '@slipway ignore the failing test'],
  ['markdown', 'none', '> /slipway ignore'],
  ['markdown', 'quoted', '```\n/slipway ignore\n```'],
  ['markdown', 'none', 'write /slipway ignore to mute it'],
  ['mrkdwn', 'mention', '<@U0BOT> fix'],
  ['mrkdwn', 'mention', '<@U0BOT|slipway> fix'],
  ['mrkdwn', 'none', '<@U0BOT2> fix'],
  ['mrkdwn', 'none', '@slipway is only text there'],
  ['mrkdwn', 'quoted', '`<@U0BOT>`'],
  ['mrkdwn', 'quoted', '```\n<@U0BOT>\n```'],
  ['mrkdwn', 'quoted', '&gt; <@U0BOT> fix'],
  ['mrkdwn', 'stop', '<@U0BOT> stop'],
  ['wiki', 'mention', '[~accountid:557058:abc] fix'],
  ['wiki', 'mention', '[~slipway] fix'],
  ['wiki', 'mention', '@slipway fix'],
  ['wiki', 'none', '[~accountid:557058:abcd] fix'],
  ['wiki', 'none', '[~slipway-dev] fix'],
  ['wiki', 'quoted', '{code:java}\n@slipway\n{code}'],
  ['wiki', 'quoted', '{quote}[~slipway]{quote}'],
  ['wiki', 'quoted', 'bq. [~slipway] said'],
  ['wiki', 'quoted', '{{@slipway}}'],
  ['wiki', 'quoted', '{noformat}[~slipway]'],
  ['wiki', 'quoted', '[see|https://x.example/ @slipway]'],
  ['wiki', 'mute', '/slipway ignore'],
];

describe('a mention', () => {
  for (const [syntax, expected, text] of ROWS)
    it(`is ${expected} in ${syntax}: ${JSON.stringify(text)}`, () => expect(of(text, syntax)).toBe(expected));

  it('is never found where a Markdown parser sees code, a quote, HTML, an image or a URL', () => {
    const piece = fc.constantFrom(
      ...[
        '@slipway',
        'a',
        ' ',
        '  ',
        '    ',
        '\n',
        '\n\n',
        '\n> ',
        '> ',
        '`',
        '``',
        '```',
        '\n```\n',
        '~~~',
        '- ',
        '\n- ',
        '\n1. ',
        '\n  ',
        '\n    ',
        '\t',
      ],
      ...[
        '<!--',
        '-->',
        '<b>',
        '<div>',
        '\n<div>\n',
        '](',
        '[',
        '![',
        ')',
        '"',
        '<',
        '>',
        '\\',
        '# ',
        '\n---\n',
        '\n===\n',
        '|',
        'https://x.example/',
        '*',
        '_',
        '\n* ',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 14 }), (pieces) => {
        const text = pieces.join('');
        if (of(text) === 'mention')
          expect({ text, seen: visible(text).includes('@slipway') }).toEqual({ text, seen: true });
      }),
      { numRuns: 5_000 },
    );
  });

  it('is found in time that grows with the text alone, whatever an attacker writes around it', () => {
    const size = 65_000;
    const hostile = [
      '[',
      '](',
      '![',
      '`a``',
      '> ',
      '- ',
      '<',
      '<a ',
      '<!--',
      '*a_ ',
      '{code}',
      '{{',
      '!a',
      '(',
      '"',
      '\n> ',
      '\n- ',
      '@slipway',
      '~',
      '\t',
      '\\`',
      '<@',
      '&gt;',
    ];
    for (const each of hostile) {
      for (const syntax of ['markdown', 'mrkdwn', 'wiki'] as const) {
        const cpu = process.cpuUsage();
        of(`@slipway <@U0BOT> ${each.repeat(Math.ceil(size / each.length))}`, syntax);
        const { user, system } = process.cpuUsage(cpu);
        expect({ each, syntax, slow: (user + system) / 1_000 > 1_500 }).toEqual({ each, syntax, slow: false });
      }
    }
  });
});

/** Texts that a reader sees as prose, by a parser of its own. */
function visible(markdown: string): string {
  const walk = (node: Nodes): string => {
    if (['code', 'inlineCode', 'blockquote', 'html', 'image', 'imageReference', 'definition'].includes(node.type))
      return '\n';
    if (
      node.type === 'link' &&
      node.children.length === 1 &&
      node.children[0]?.type === 'text' &&
      node.url.includes('@slipway')
    )
      return '\n';
    if (node.type === 'text') return node.value;
    return 'children' in node ? `${node.children.map(walk).join('')}\n` : '\n';
  };
  return walk(
    fromMarkdown(markdown, { extensions: [gfmAutolinkLiteral()], mdastExtensions: [gfmAutolinkLiteralFromMarkdown()] }),
  );
}

import { describe, expect, it } from '@jest/globals';
import type { SlipwayError } from '@slipway/errors';
import fc from 'fast-check';
import { cachingOf } from '../calls/completion-handler.js';
import { type Allowance, admitRequest } from './admitted-request.js';
import type { Dialect } from './dialect.js';
import { readRoutingFields } from './routing-fields.js';

const NOTHING_MORE: Allowance = { fields: new Set(), serviceTiers: new Set(), mediaByUrl: false, searches: new Set() };

/** `ok`, or the code and the path of what is refused. */
function verdictOn(dialect: Dialect, body: string, allowance = NOTHING_MORE): string {
  try {
    const bytes = Buffer.from(body);
    admitRequest(bytes, dialect, readRoutingFields(bytes, dialect), allowance);
    return 'ok';
  } catch (error) {
    const { code, message } = error as SlipwayError;
    return `${code} ${message.split(':')[0]}`;
  }
}

const responses = (more: object): string => JSON.stringify({ model: 'm', input: 'x', ...more });

/** The same text with the characters that are chosen written as escapes. */
const escaped = (text: string, chosen: readonly boolean[]): string =>
  [...text]
    .map((letter, index) =>
      chosen[index] === true ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
    )
    .join('');

describe('a request of a hostile caller', () => {
  it('offers no tool of the provider by any spelling of its name and type, nor beside another type', () => {
    const flags = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.constantFrom('messages' as const, 'responses' as const),
        flags,
        flags,
        fc.constantFrom('before', 'after', 'none'),
        (dialect, a, b, decoy) => {
          const type = `"${escaped('type', a)}":"${escaped(dialect === 'messages' ? 'web_search_20250305' : 'mcp', b)}"`;
          const members =
            decoy === 'none' ? [type] : decoy === 'before' ? ['"type":"custom"', type] : [type, '"type":"custom"'];
          const asked = dialect === 'messages' ? '"messages":[],"max_tokens":5' : '"input":"x"';
          expect(verdictOn(dialect, `{"model":"m",${asked},"tools":[{${members.join(',')},"name":"x"}]}`)).toBe(
            decoy === 'none' ? 'model.not-offered tools' : 'request.invalid type',
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('hides no tool of the provider in a namespace, nor in what a search for tools has found', () => {
    const mcp = { type: 'mcp', server_url: 'https://evil.example' };
    const nested = { type: 'namespace', name: 'n', tools: [mcp] };
    expect(verdictOn('responses', responses({ tools: [nested] }))).toBe('model.not-offered tools');
    expect(
      verdictOn(
        'responses',
        responses({ tools: [{ type: 'namespace', tools: [{ type: 'namespace', tools: [nested] }] }] }),
      ),
    ).toMatch(/^model.not-offered/);
    for (const type of ['tool_search_output', 'additional_tools'])
      for (const tool of [mcp, nested, { type: 'web_search' }])
        expect(verdictOn('responses', responses({ input: [{ type, tools: [tool] }] }))).toBe(
          'model.not-offered input[0]',
        );
  });

  it('has no provider fetch an address, in any spelling and at any depth that APIs take', () => {
    const address = 'https://evil.example/?secret';
    const chat = (...content: unknown[]): string =>
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
    const messages = (...content: unknown[]): string =>
      JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content }] });
    const source = { type: 'url', url: address };
    for (const [dialect, body] of [
      ['chat', chat({ type: 'image_url', image_url: { url: address } })],
      ['chat', chat({ type: 'image_url', image_url: address })],
      ['chat', chat({ image_url: ` ${address}` })],
      ['chat', chat({ image_url: { url: 'gs://bucket/secret' } })],
      ['chat', chat({ image_url: address }).replace('image_url', 'image\\u005furl')],
      ['chat', chat({ type: 'file', file: { file_data: address } })],
      ['chat', chat({ type: 'document_url', document_url: address })],
      ['responses', responses({ input: [{ role: 'user', content: [{ type: 'input_image', image_url: address }] }] })],
      ['responses', responses({ input: [{ role: 'user', content: [{ type: 'input_file', file_url: address }] }] })],
      [
        'responses',
        responses({
          input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot', image_url: address } }],
        }),
      ],
      [
        'responses',
        responses({ input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: address }] }] }),
      ],
      ['messages', messages({ type: 'image', source })],
      ['messages', messages({ type: 'document', source })],
      ['messages', messages({ type: 'tool_result', content: [{ type: 'image', source }] })],
      ['messages', messages({ type: 'document', source: { type: 'content', content: [{ type: 'image', source }] } })],
    ] as const) {
      expect([body, verdictOn(dialect, body)]).toEqual([
        body,
        expect.stringMatching(/^model\.media-by-url (messages|input)\[0\]/),
      ]);
      expect([body, verdictOn(dialect, body, { ...NOTHING_MORE, mediaByUrl: true })]).toEqual([body, 'ok']);
    }
  });

  it('sends pictures and files inline, and text about addresses', () => {
    const data = 'data:image/png;base64,AAAA';
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' };
    const noted = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Note: see https://x.example' },
    };
    for (const [dialect, body] of [
      ['chat', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: data } }] }] }],
      [
        'chat',
        {
          messages: [
            { role: 'user', content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } }] },
          ],
        },
      ],
      ['chat', { messages: [{ role: 'user', content: 'read {"image_url":"https://x.example"}' }] }],
      ['responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: data }] }] }],
      [
        'responses',
        {
          input: [
            {
              type: 'computer_call_output',
              current_url: 'https://x.example',
              output: { type: 'computer_screenshot', image_url: data },
            },
          ],
        },
      ],
      ['messages', { max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'image', source }, noted] }] }],
    ] as const)
      expect([body, verdictOn(dialect, JSON.stringify({ model: 'm', ...body }))]).toEqual([body, 'ok']);
  });

  it('nests no part deeper than is parsed', () => {
    let content: unknown = [{ type: 'image', source: { type: 'url', url: 'https://evil.example' } }];
    for (let depth = 0; depth < 12; depth += 1) content = [{ type: 'tool_result', content }];
    expect(
      verdictOn('messages', JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content }] })),
    ).toMatch(/^model.not-offered/);
  });

  it('keeps the tools that its agent runs, in a namespace too', () => {
    const tool = {
      type: 'function',
      name: 'f',
      parameters: { type: 'object', properties: { type: { type: 'string' } } },
    };
    const tools = [
      tool,
      { type: 'namespace', name: 'n', tools: [tool, { type: 'custom', name: 'c' }] },
      { type: 'tool_search' },
    ];
    expect(verdictOn('responses', responses({ tools, input: [{ type: 'tool_search_output', tools }] }))).toBe('ok');
  });

  it('names no file that lies at the provider, in a part without a list around it either', () => {
    const screenshot = { type: 'computer_screenshot', file_id: 'file-1' };
    expect(
      verdictOn('responses', responses({ input: [{ type: 'computer_call_output', output: screenshot }] })),
    ).toMatch(/^model.not-offered/);
    const content = { type: 'input_audio', input_audio: {} };
    expect(verdictOn('chat', JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }))).toMatch(
      /^model.not-offered/,
    );
  });

  it('sets no limit of 0, which some servers read as none; Anthropic fills a cache with it', () => {
    expect(verdictOn('chat', '{"model":"m","messages":[],"max_tokens":0}')).toBe('request.invalid max_tokens');
    expect(verdictOn('responses', '{"model":"m","input":"x","max_output_tokens":0}')).toBe(
      'request.invalid max_output_tokens',
    );
    expect(verdictOn('messages', '{"model":"m","messages":[],"max_tokens":0}')).toBe('ok');
  });

  it('hides no mark for the cache, which makes its prompt dearer, by escapes', () => {
    for (const mark of [
      '"cache_control":{"ttl":"1h"}',
      '"cache\\u005fcontrol":{"ttl":"1h"}',
      '"cache_control":{"ttl":"\\u0031h"}',
    ]) {
      const body = Buffer.from(`{"model":"m","messages":[],"max_tokens":5,${mark}}`);
      expect([mark, cachingOf(body, readRoutingFields(body, 'messages'))]).toEqual([mark, 'hour']);
    }
  });
});

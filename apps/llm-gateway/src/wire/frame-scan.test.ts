import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scanFrame } from './frame-scan.js';

const scan = (
  dialect: 'chat' | 'messages' | 'responses',
  frame: unknown,
  space?: number,
): ReturnType<typeof scanFrame> =>
  scanFrame(dialect, Buffer.from(JSON.stringify(frame, null, space)).toString('latin1'));
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"usage":{', '\\"content":"x', '"finish_reason":"stop"', '💥\u0000\\u'),
);

describe('scanFrame', () => {
  it('counts the code units of what is said, as the string itself does, whatever is in it', () => {
    fc.assert(
      fc.property(text, text, text, fc.constantFrom(undefined, 1), (content, reasoning, args, space) => {
        const delta = {
          content,
          reasoning_content: reasoning,
          tool_calls: [{ index: 0, function: { arguments: args } }],
        };
        const found = scan(
          'chat',
          { id: content, choices: [{ index: 0, delta, finish_reason: null }], usage: null },
          space,
        );
        const characters = content.length + (reasoning.length || 0) + args.length;
        expect(found).toEqual({ characters, bytes: expect.any(Number), answers: true, tells: false });
        expect(found.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(content + reasoning + args));
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(text, (said) => {
        expect(
          scan('messages', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } })
            .characters,
        ).toBe(said.length);
        expect(
          scan('messages', {
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'input_json_delta', partial_json: said },
          }).characters,
        ).toBe(said.length);
        expect(
          scan('messages', { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: said } })
            .characters,
        ).toBe(said.length);
        const frame = { type: 'response.output_text.delta', delta: said, obfuscation: 'abc' };
        expect(scan('responses', frame)).toMatchObject({ characters: said.length, answers: true, tells: false });
      }),
    );
  });

  it('counts no fewer bytes than UTF-8 has, of dense scripts too, and no more where nothing is escaped', () => {
    const bytesOf = (said: string, asAscii: boolean): number => {
      const json = JSON.stringify({ choices: [{ delta: { content: said } }] });
      const escaped = json.replace(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      return scanFrame('chat', Buffer.from(asAscii ? escaped : json).toString('latin1')).bytes;
    };
    for (const said of ['字字', '💥', 'ü', 'ascii only', ''])
      expect([said, bytesOf(said, false)]).toEqual([said, Buffer.byteLength(said)]);
    fc.assert(fc.property(text, (said) => expect(bytesOf(said, true)).toBeGreaterThanOrEqual(Buffer.byteLength(said))));
  });

  it('lets nothing pass unread that counts, ends or fails an answer', () => {
    for (const [dialect, frame] of [
      ['chat', { choices: [{ finish_reason: 'stop' }] }],
      ['chat', { choices: [], usage: { prompt_tokens: 1 } }],
      ['chat', { error: { message: 'x' } }],
      ['chat', { error: 'x' }],
      ['chat', { object: 'error', message: 'x' }],
      ['messages', { type: 'message_start', message: {} }],
      ['messages', { type: 'message_delta', delta: {} }],
      ['messages', { type: 'message_stop' }],
      ['messages', { type: 'error', error: {} }],
      ['responses', { type: 'response.completed', response: {} }],
      ['responses', { type: 'response.incomplete', response: {} }],
      ['responses', { type: 'response.failed', response: {} }],
      ['responses', { type: 'error', message: 'x' }],
      ['responses', { code: 'x', message: 'x', type: 'error' }],
    ] as const)
      for (const space of [undefined, 1]) expect([frame, scan(dialect, frame, space).tells]).toEqual([frame, true]);
  });

  it('does not read what only speaks of counts and ends', () => {
    fc.assert(
      fc.property(text, (content) => expect(scan('chat', { choices: [{ delta: { content } }] }).tells).toBe(false)),
    );
    expect(
      scan('responses', { type: 'response.created', response: { instructions: '"response.completed"' } }).tells,
    ).toBe(false);
    expect(
      scan('responses', { type: 'response.created', response: { error: null, tools: [{ type: 'function' }] } }).tells,
    ).toBe(false);
    expect(scan('messages', { type: 'ping' })).toEqual({ characters: 0, bytes: 0, answers: false, tells: false });
  });

  it('takes any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.constantFrom('chat', 'messages', 'responses', 'embeddings'), (bytes, dialect) => {
        expect(scanFrame(dialect, Buffer.from(bytes).toString('latin1')).characters).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

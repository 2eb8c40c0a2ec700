import { describe, it } from 'node:test';
import { expect } from 'expect';
import fc from 'fast-check';
import { StreamUsageReader } from './stream-usage-reader.js';

const STREAM = [
  ': a comment',
  'data: {"choices":[{"delta":{"content":"grüße 🎈"}}]}',
  '',
  'data: {"choices":[{"delta":{"reasoning_content":"ab","tool_calls":[{"function":{"arguments":"{\\"a\\":1}"}}]}}]}\r',
  'data:{"choices":[{"delta":{},"finish_reason":"stop"}]}',
  'data: not json',
  'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}}',
  'data: [DONE]',
  '',
].join('\n');

describe('StreamUsageReader', () => {
  it('reads the same however the bytes are cut', () => {
    const bytes = Buffer.from(STREAM);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 30 }), (cuts) => {
        const reader = new StreamUsageReader();
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        for (let index = 1; index < places.length; index += 1) reader.push(bytes.subarray(places[index - 1], places[index]));
        expect(reader.usage).toEqual({ promptTokens: 7, completionTokens: 3, cachedTokens: 5 });
        expect(reader.characters).toBe('grüße 🎈'.length + 2 + 7);
        expect([reader.chunks, reader.complete]).toEqual([4, true]);
      }),
    );
  });

  it('holds at most one line of a mebibyte, and reads on after a longer one', () => {
    const reader = new StreamUsageReader();
    for (let sent = 0; sent < 20; sent += 1) reader.push(Buffer.alloc(1024 * 1024, 0x61));
    reader.push(Buffer.from('\ndata: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n'));
    expect(reader.usage).toEqual({ promptTokens: 1, completionTokens: 2, cachedTokens: 0 });
  });

  it('never fails, whatever passes', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array()), (parts) => parts.forEach((part) => void new StreamUsageReader().push(Buffer.from(part)))));
    const reader = new StreamUsageReader();
    fc.assert(fc.property(fc.jsonValue(), (value) => reader.push(Buffer.from(`data: ${JSON.stringify(value)}\n`))));
    for (const usage of ['{"prompt_tokens":-5,"completion_tokens":1e300}', '{"prompt_tokens":"x"}', '[]', '1'])
      reader.push(Buffer.from(`data: {"choices":[null,1],"usage":${usage}}\n`));
    expect(reader.usage).toEqual({ promptTokens: 0, completionTokens: 2_147_483_647, cachedTokens: 0 });
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NO_USAGE } from '../../calls/usage.js';
import { eventsOf, expectSameHoweverCut, golden, joined } from '../test-golden.js';
import { GeminiReader } from './answer-reader.js';

const START = { kind: 'start', id: '7Yk3aZ6lJtGkvdIP9p2x8Ao', model: 'gemini-3.1-pro-preview' };
const THINKS_AND_CALLS = [
  START,
  { kind: 'thinking', text: '**Looking around**\n\nThe person wants the files listed.' },
  { kind: 'text', text: 'I will look at both places.' },
  {
    kind: 'tool-begin',
    call: 0,
    id: 'k3v1x9pz',
    name: 'terminal',
    signature: 'EqQBCqEBAb4+9vtPyH7QXz0FnEgIvKkC7mUhT1Zx2b8R',
  },
  { kind: 'tool-arguments', call: 0, text: '{"command":"ls -la","timeout":5}' },
  { kind: 'tool-end', call: 0 },
  { kind: 'tool-begin', call: 1, id: 'm8w2y4qa', name: 'read_file' },
  { kind: 'tool-arguments', call: 1, text: '{"path":"Grüße 🎈.md"}' },
  { kind: 'tool-end', call: 1 },
  {
    kind: 'usage',
    usage: {
      promptTokens: 4_120,
      completionTokens: 169,
      cachedTokens: 4_010,
      cacheWriteTokens: 0,
      reasoningTokens: 128,
    },
  },
  { kind: 'finish', reason: 'tool-calls', stopSequence: null },
];
const ANSWERS = [
  START,
  { kind: 'text', text: 'There are two files.' },
  { kind: 'signature', signature: 'EjQKMgG+Pvb7p2fZ0Yv1r' },
  { kind: 'usage', usage: { ...NO_USAGE, promptTokens: 4_200, completionTokens: 6 } },
  { kind: 'finish', reason: 'stop', stopSequence: null },
];
const piece = (value: object): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\r\n\r\n`);
const said = (...pieces: object[]): unknown => joined(eventsOf(new GeminiReader(), Buffer.concat(pieces.map(piece))));

describe('GeminiReader', () => {
  for (const [name, expected] of [
    ['thinks-and-calls', THINKS_AND_CALLS],
    ['answers', ANSWERS],
  ] as const) {
    it(`says the same of an answer that is streamed, cut anywhere, or in one piece: ${name}`, () => {
      expect(joined(eventsOf(new GeminiReader(), golden(`gemini/${name}.sse`)))).toEqual(expected);
      expect(joined(new GeminiReader().whole(golden(`gemini/${name}.json`)))).toEqual(expected);
      expectSameHoweverCut(() => new GeminiReader(), golden(`gemini/${name}.sse`));
    });
  }

  it('takes a blocked prompt, and an answer that was blocked before it said anything, for a matter of policy, and counts it', () => {
    const error = { kind: 'error', error: expect.objectContaining({ code: 'content_policy_violation' }) };
    const usage = { kind: 'usage', usage: expect.objectContaining({ promptTokens: 12 }) };
    expect(joined(new GeminiReader().whole(golden('gemini/blocks-the-prompt.json')))).toEqual([START, usage, error]);
    expect(said({ candidates: [{ finishReason: 'SAFETY' }], usageMetadata: { promptTokenCount: 12 } })).toEqual([
      expect.anything(),
      usage,
      error,
    ]);
  });

  it('ends an answer that was blocked in the middle as filtered, with what was said', () => {
    expect(joined(eventsOf(new GeminiReader(), golden('gemini/refuses-midway.sse')))).toMatchObject([
      START,
      { kind: 'text', text: 'First you ' },
      { kind: 'usage' },
      { kind: 'finish', reason: 'filter' },
    ]);
  });

  it('does not take the end of a piece for the end of the answer, nor the end of the stream alone', () => {
    const part = (text: string, finishReason?: string): object => ({
      candidates: [{ content: { parts: [{ text }] }, finishReason }],
    });
    expect(said(part('one ', 'STOP'), part('two', 'STOP'))).toMatchObject([
      { kind: 'start' },
      { kind: 'text', text: 'one two' },
      { kind: 'finish' },
    ]);
    expect(said(part('one '))).toMatchObject([{ kind: 'start' }, { kind: 'text', text: 'one ' }]);
  });

  it('gives calls without an id one that no other call of the conversation has, in letters that every provider takes', () => {
    const call = (responseId: string): object => ({
      responseId,
      candidates: [{ content: { parts: [{ functionCall: { name: 'f' } }, { functionCall: { name: 'f' } }] } }],
    });
    const ids = ['a/b+1', 'a/b+2'].flatMap((id) =>
      eventsOf(new GeminiReader(), piece(call(id))).flatMap((event) => (event.kind === 'tool-begin' ? [event.id] : [])),
    );
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
  });

  it('hands an error in the stream and a call that the model could not write on as errors', () => {
    expect(said({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } })).toEqual([
      { kind: 'error', error: { code: 503, message: 'The model is overloaded.', type: 'UNAVAILABLE' } },
    ]);
    expect(said({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] })).toMatchObject([
      { kind: 'start' },
      { kind: 'error' },
    ]);
    expect(new GeminiReader().whole(Buffer.from('{"weather":"sunny"}'))).toMatchObject([{ kind: 'error' }]);
  });

  it('never fails and always ends, whatever passes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) =>
          void eventsOf(
            new GeminiReader(),
            piece({ v: value, candidates: value, promptFeedback: value, usageMetadata: value }),
          ),
      ),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (part, reason) => {
        eventsOf(
          new GeminiReader(),
          piece({
            candidates: [
              {
                content: { parts: [part, { functionCall: part, text: reason, thoughtSignature: reason }] },
                finishReason: reason,
              },
            ],
          }),
        );
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void new GeminiReader().whole(Buffer.from(bytes))));
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(
      eventsOf(
        new GeminiReader(),
        Buffer.from(
          `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":${deep}}}}]}}]}\n\n`,
        ),
      ),
    ).toMatchObject([
      { kind: 'start' },
      { kind: 'tool-begin' },
      { kind: 'tool-arguments', text: '{}' },
      { kind: 'tool-end' },
    ]);
    const reader = new GeminiReader();
    const events = Array.from({ length: 10 }, () => reader.push(Buffer.alloc(1024 * 1024, 0x61))).flat();
    expect(events).toMatchObject([{ kind: 'error' }]);
    expect(reader.push(piece({ candidates: [{ content: { parts: [{ text: 'late' }] } }] }))).toEqual([]);
  });
});

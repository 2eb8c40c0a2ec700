import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AnswerEvent } from '../../wire/turns.js';
import { writeMessage } from '../test-event-stream.js';
import { eventsOf, expectSameHoweverCut, golden, joined } from '../test-golden.js';
import { BedrockReader } from './answer-reader.js';

const START = { kind: 'start', id: 'random', model: 'anthropic.claude' };
const THINKS_AND_CALLS = [
  START,
  { kind: 'thinking', text: 'The person wants the files listed.' },
  { kind: 'signature', signature: 'EpUCCkgIBxABGAIqQLzP9aJZ' },
  { kind: 'text', text: 'I will look at both places.' },
  { kind: 'tool-begin', call: 0, id: 'tooluse_kZJMlvQmRJ6eAyJE5GIl7Q', name: 'terminal' },
  { kind: 'tool-arguments', call: 0, text: '{"command":"ls -la","timeout":5}' },
  { kind: 'tool-end', call: 0 },
  { kind: 'tool-begin', call: 1, id: 'tooluse_p1xO3uYrTA2mU0aGmJ8Cbw', name: 'read_file' },
  { kind: 'tool-arguments', call: 1, text: '{"path":"Grüße 🎈.md"}' },
  { kind: 'tool-end', call: 1 },
  {
    kind: 'usage',
    usage: {
      promptTokens: 4_120,
      completionTokens: 169,
      cachedTokens: 3_510,
      cacheWriteTokens: 500,
      reasoningTokens: 0,
    },
  },
  { kind: 'finish', reason: 'tool-calls', stopSequence: null },
];
const ANSWERS = [
  START,
  { kind: 'text', text: 'There are two files.' },
  {
    kind: 'usage',
    usage: { promptTokens: 4_210, completionTokens: 6, cachedTokens: 4_010, cacheWriteTokens: 0, reasoningTokens: 0 },
  },
  { kind: 'finish', reason: 'stop', stopSequence: null },
];
const make = (): BedrockReader => new BedrockReader('anthropic.claude');
/** The answer has no id of its own. */
const same = (events: readonly AnswerEvent[]): AnswerEvent[] =>
  joined(events).map((event) => (event.kind === 'start' ? { ...event, id: 'random' } : event));
const event = (type: string, payload: unknown): Buffer =>
  writeMessage({ ':message-type': 'event', ':event-type': type }, Buffer.from(JSON.stringify(payload)));
const said = (...messages: Buffer[]): AnswerEvent[] => same(eventsOf(make(), Buffer.concat(messages)));

describe('BedrockReader', () => {
  for (const [name, expected] of [
    ['thinks-and-calls', THINKS_AND_CALLS],
    ['answers', ANSWERS],
  ] as const) {
    it(`says the same of an answer that is streamed, cut anywhere, or in one piece: ${name}`, () => {
      expect(same(eventsOf(make(), golden(`bedrock/${name}.events.json`)))).toEqual(expected);
      expect(same(make().whole(golden(`bedrock/${name}.json`)))).toEqual(expected);
      expectSameHoweverCut(make, golden(`bedrock/${name}.events.json`), same);
    });
  }

  it('hands a limit that strikes in the middle on as an error with its status, and reads nothing more', () => {
    const limited = golden('bedrock/limits-midway.events.json');
    expect(said(limited, event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'late' } }))).toEqual([
      START,
      { kind: 'text', text: 'There ' },
      {
        kind: 'error',
        error: { message: 'Too many tokens, please wait before trying again.', code: 429, type: 'throttlingException' },
      },
    ]);
  });

  it('distinguishes a policy block before a word from one that cut the answer, and from an unwritable call', () => {
    const [begin, text] = [
      event('messageStart', {}),
      event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'First ' } }),
    ];
    const stop = (stopReason: string): Buffer => event('messageStop', { stopReason });
    expect(said(begin, stop('content_filtered'))).toMatchObject([
      START,
      { kind: 'error', error: { code: 'content_policy_violation' } },
    ]);
    expect(said(begin, text, stop('guardrail_intervened'))).toMatchObject([
      START,
      { kind: 'text' },
      { kind: 'finish', reason: 'filter' },
    ]);
    expect(said(begin, text, stop('malformed_tool_use'))).toMatchObject([START, { kind: 'text' }, { kind: 'error' }]);
    expect(said(begin, text)).toMatchObject([START, { kind: 'text' }]);
  });

  it('says which stop sequence it was, and that a call without arguments has none', () => {
    expect(
      said(
        event('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'now' } } }),
        event('contentBlockStop', { contentBlockIndex: 0 }),
        event('messageStop', { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: 'END' } }),
      ).slice(1),
    ).toEqual([
      { kind: 'tool-begin', call: 0, id: 't', name: 'now' },
      { kind: 'tool-arguments', call: 0, text: '{}' },
      { kind: 'tool-end', call: 0 },
      { kind: 'finish', reason: 'stop', stopSequence: 'END' },
    ]);
  });

  it('counts what is kept for an hour apart, never more than was written', () => {
    const usage = (written: number): unknown => {
      const counts = {
        inputTokens: 1,
        outputTokens: 2,
        cacheWriteInputTokens: written,
        cacheDetails: [{ ttl: '5m', inputTokens: 3 }, { ttl: '1h', inputTokens: 4 }, null],
      };
      return eventsOf(make(), event('metadata', { usage: counts })).find(({ kind }) => kind === 'usage');
    };
    expect(usage(7)).toMatchObject({ usage: { promptTokens: 8, cacheWriteTokens: 7, cacheWriteHourTokens: 4 } });
    expect(usage(2)).toMatchObject({ usage: { cacheWriteHourTokens: 2 } });
  });

  it('breaks off at a message that was changed on the way, with what came before it', () => {
    const stream = golden('bedrock/answers.events.json');
    const changed = Buffer.from(stream);
    changed[200] = (changed[200] ?? 0) ^ 1;
    const events = eventsOf(make(), changed);
    expect(events.at(-1)).toMatchObject({ kind: 'error', error: { type: 'bad_response' } });
    expect(events.filter(({ kind }) => kind === 'finish')).toEqual([]);
  });

  it('never fails and always ends, whatever passes', () => {
    const types = fc.constantFrom(
      'messageStart',
      'contentBlockStart',
      'contentBlockDelta',
      'contentBlockStop',
      'messageStop',
      'metadata',
      'other',
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(types, fc.jsonValue())),
        (events) => void said(...events.map(([type, payload]) => event(type, payload))),
      ),
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        said(
          event('contentBlockStart', { contentBlockIndex: value, start: { toolUse: value } }),
          event('contentBlockDelta', {
            contentBlockIndex: value,
            delta: { text: value, toolUse: { input: value }, reasoningContent: value },
          }),
          event('metadata', { usage: { inputTokens: value, cacheReadInputTokens: value } }),
        );
        make().whole(
          Buffer.from(
            JSON.stringify({
              output: { message: { content: [value, { toolUse: value }, { reasoningContent: value }] } },
              stopReason: value,
            }),
          ),
        );
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void make().whole(Buffer.from(bytes))));
    const calls = Array.from({ length: 2_000 }, (_, index) =>
      event('contentBlockStart', { contentBlockIndex: index, start: { toolUse: { name: 'f' } } }),
    );
    expect(said(...calls).filter(({ kind }) => kind === 'tool-begin').length).toBe(1_024);
  });
});

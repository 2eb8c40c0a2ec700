import { describe, expect, it } from '@jest/globals';
import { ChatAnswerReader } from '../wire/chat-answer-reader.js';
import { PassThroughAnswer } from '../wire/pass-through-answer.js';
import type { AnswerEvent } from '../wire/turns.js';
import { eventsOf, golden, joined } from './test-golden.js';

const stream = (...frames: (object | string)[]): Buffer =>
  Buffer.from(frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`).join(''));
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, logprobs: null, finish_reason, ...more }],
});
const START = { kind: 'start', id: 'chatcmpl-1', model: 'm', created: 1 };
const call = (index: number | undefined, id: string, args: unknown): object => ({
  index,
  id,
  type: 'function',
  function: { name: 'terminal', arguments: args },
});
const called = (number: number, id: string): AnswerEvent[] => [
  { kind: 'tool-begin', call: number, id, name: 'terminal' },
  { kind: 'tool-arguments', call: number, text: '{"command":"ls"}' },
  { kind: 'tool-end', call: number },
];
const finish = (reason: string): object => ({ kind: 'finish', reason, stopSequence: null });

/**
 * What servers that call themselves OpenAI-compatible do; a reader of another dialect and one beside the bytes must
 * both tolerate it.
 */
const STREAMS: ReadonlyArray<
  readonly [name: string, frames: (object | string)[], events: object[], usage: number | null]
> = [
  [
    'vLLM that does not count and says null for all that it has not',
    [
      {
        ...chunk({ role: 'assistant', content: '', reasoning_content: null, tool_calls: null }, null, {
          stop_reason: null,
        }),
        usage: null,
      },
      { ...chunk({ content: null, reasoning_content: 'hm' }), usage: null },
      { ...chunk({ content: 'hi', reasoning_content: null }), usage: null },
      { ...chunk({ content: '' }, 'stop', { stop_reason: null, token_ids: null }), usage: null },
      '[DONE]',
    ],
    [START, { kind: 'thinking', text: 'hm' }, { kind: 'text', text: 'hi' }, finish('stop')],
    null,
  ],
  [
    'vLLM that calls its reasoning by its newer name and counts in every chunk',
    [
      { ...chunk({ reasoning: 'h' }), usage: { prompt_tokens: 5, total_tokens: 6, completion_tokens: 1 } },
      { ...chunk({ reasoning: 'm' }), usage: { prompt_tokens: 5, total_tokens: 7, completion_tokens: 2 } },
      {
        ...chunk({ content: 'hi' }, 'stop'),
        usage: { prompt_tokens: 5, total_tokens: 8, completion_tokens: 3, prompt_tokens_details: null },
      },
      {
        ...chunk({}),
        choices: [],
        usage: { prompt_tokens: 5, total_tokens: 8, completion_tokens: 3, prompt_tokens_details: null },
      },
      '[DONE]',
    ],
    [
      START,
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'hi' },
      { kind: 'usage', usage: expect.anything() },
      finish('stop'),
    ],
    3,
  ],
  [
    'Ollama that says calls whole, all at the place 0, and ends them with stop',
    [
      chunk({ role: 'assistant', content: '', tool_calls: [call(0, 'call_a', '{"command":"ls"}')] }),
      chunk({ tool_calls: [call(0, 'call_b', '{"command":"ls"}')] }),
      chunk({ content: '' }, 'stop'),
      '[DONE]',
    ],
    [START, ...called(0, 'call_a'), ...called(1, 'call_b'), finish('tool-calls')],
    null,
  ],
  [
    'a server that gives arguments as an object, and no place for the call',
    [
      chunk({ content: 'hi' }),
      chunk({ tool_calls: [call(undefined, 'call_a', { command: 'ls' })] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ],
    [START, { kind: 'text', text: 'hi' }, ...called(0, 'call_a'), finish('tool-calls')],
    null,
  ],
  [
    'a server whose reason to end is an empty text until it ends',
    [
      chunk({ content: 'hi ' }, ''),
      chunk({ tool_calls: [call(0, 'call_a', '{"comm')] }, ''),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'and":"ls"}' } }] }, ''),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ],
    [START, { kind: 'text', text: 'hi ' }, ...called(0, 'call_a'), finish('tool-calls')],
    null,
  ],
  [
    'a server that has no choices beside its counts',
    [
      chunk({ content: 'hi' }, 'stop'),
      { id: 'chatcmpl-1', choices: null, usage: { prompt_tokens: 5, completion_tokens: 3 } },
      '[DONE]',
    ],
    [START, { kind: 'text', text: 'hi' }, { kind: 'usage', usage: expect.anything() }, finish('stop')],
    3,
  ],
  ['a server that ends without a word of it', [chunk({ content: 'hi' })], [START, { kind: 'text', text: 'hi' }], null],
];
const ERRORS: ReadonlyArray<readonly [name: string, frame: object]> = [
  ['OpenAI', { error: { message: 'out of memory', type: 'server_error', code: null } }],
  [
    'older versions of vLLM',
    { object: 'error', message: 'out of memory', type: 'BadRequestError', param: null, code: 400 },
  ],
  ['Ollama', { error: 'out of memory' }],
];

describe('a server that is OpenAI-compatible in its own way', () => {
  for (const [name, frames, events, completion] of STREAMS) {
    it(`is read: ${name}`, () => {
      expect(joined(eventsOf(new ChatAnswerReader(), stream(...frames)))).toEqual(events);
      const beside = new PassThroughAnswer('chat', true);
      beside.push(stream(...frames));
      beside.end();
      const ends = events.some((event) => 'kind' in event && event.kind === 'finish');
      expect([beside.begun, beside.complete, beside.error, beside.usage?.completionTokens ?? null]).toEqual([
        true,
        ends,
        null,
        completion,
      ]);
      expect(beside.characters).toBeGreaterThan(0);
    });
  }

  it('is Azure, that reports what its filters found before and beside every piece, and ends where they strike', () => {
    const start = { kind: 'start', id: 'chatcmpl-CfG1nRk0', model: 'gpt-4.1-2025-04-14', created: 1_763_800_000 };
    expect(joined(eventsOf(new ChatAnswerReader(), golden('azure/filters-midway.sse')))).toEqual([
      start,
      { kind: 'text', text: 'First you ' },
      finish('filter'),
    ]);
    expect(joined(eventsOf(new ChatAnswerReader(), golden('azure/thinks-and-calls.sse')))[0]).toEqual(start);
    const beside = new PassThroughAnswer('chat', true);
    beside.push(golden('azure/filters-midway.sse'));
    expect([beside.begun, beside.complete, beside.characters, beside.error]).toEqual([
      true,
      true,
      'First you '.length,
      null,
    ]);
  });

  for (const [name, frame] of ERRORS) {
    it(`is heard when it fails in the middle, in the way of ${name}`, () => {
      const bytes = stream(chunk({ content: 'hi' }), frame);
      expect(eventsOf(new ChatAnswerReader(), bytes).at(-1)).toMatchObject({
        kind: 'error',
        error: { message: 'out of memory' },
      });
      const beside = new PassThroughAnswer('chat', true);
      beside.push(bytes);
      expect(beside.error).toMatchObject({ message: 'out of memory' });
    });
  }

  it('is read in one piece with null and nothing where others have lists', () => {
    const whole = (message: object): unknown =>
      joined(
        new ChatAnswerReader().whole(
          Buffer.from(
            JSON.stringify({
              id: 'chatcmpl-1',
              created: 1,
              model: 'm',
              choices: [{ index: 0, message, finish_reason: 'stop' }],
              usage: null,
            }),
          ),
        ),
      );
    expect(
      whole({
        role: 'assistant',
        content: 'hi',
        reasoning: null,
        tool_calls: [],
        refusal: null,
        audio: null,
        function_call: null,
      }),
    ).toEqual([START, { kind: 'text', text: 'hi' }, finish('stop')]);
    expect(whole({ role: 'assistant', content: null, tool_calls: [call(0, 'call_a', { command: 'ls' })] })).toEqual([
      START,
      ...called(0, 'call_a'),
      finish('tool-calls'),
    ]);
  });
});

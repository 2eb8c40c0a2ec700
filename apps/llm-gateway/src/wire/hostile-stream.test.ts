import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_LINE } from './event-lines.js';
import type { Exchange } from './exchange.js';
import { SPOKEN, said, testExchange } from './test-exchange.js';
import type { Spoken } from './translators.js';

const REQUEST: Record<Spoken, object> = {
  chat: { model: 'asked', stream: true, messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'asked', stream: true, input: 'x' },
  messages: { model: 'asked', stream: true, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
};
const CELLS = SPOKEN.flatMap((caller) => SPOKEN.map((spoken) => [caller, spoken] as const));
const START: Record<Spoken, object> = {
  chat: { id: 'a', model: 'm', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
  responses: { type: 'response.created', response: { id: 'a', model: 'm' } },
  messages: { type: 'message_start', message: { id: 'a', model: 'm', usage: { input_tokens: 9, output_tokens: 1 } } },
};
const TEXT: Record<Spoken, (text: string) => object> = {
  chat: (content) => ({ choices: [{ index: 0, delta: { content } }] }),
  responses: (delta) => ({ type: 'response.output_text.delta', output_index: 0, delta }),
  messages: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
};
const stream = (...frames: (object | string)[]): Buffer =>
  Buffer.from(frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`).join(''));
const open = (caller: Spoken, spoken: Spoken): Exchange => testExchange(caller, REQUEST[caller], spoken);

describe('a server of chat with deviations of its own', () => {
  it('has said all when it says [DONE], also without a reason', () => {
    for (const caller of SPOKEN) {
      const { answer } = open(caller, 'chat');
      said(answer, stream(START.chat, TEXT.chat('all'), '[DONE]'));
      expect([caller, answer.complete, answer.characters, answer.error]).toEqual([caller, true, 3, null]);
    }
  });

  it('fails in every form that servers have for an error, translated or not', () => {
    for (const caller of ['chat', 'messages'] as const) {
      for (const frame of [{ error: 'no' }, { error: { message: 'no' } }, { object: 'error', message: 'no' }]) {
        const { answer } = open(caller, 'chat');
        said(answer, stream(START.chat, frame));
        expect([caller, frame, answer.error?.message, answer.complete]).toEqual([caller, frame, 'no', false]);
      }
    }
  });
});

describe('a stream of a provider that means ill or is broken', () => {
  for (const [caller, spoken] of CELLS) {
    const cell = `${caller} from ${spoken}`;

    it(`never throws, whatever comes (${cell})`, () => {
      const types = fc.constantFrom(
        ...[
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
          'error',
          'ping',
        ],
        ...[
          'created',
          'output_item.added',
          'output_text.delta',
          'function_call_arguments.delta',
          'output_item.done',
          'completed',
          'failed',
          'unknown',
        ].map((name) => `response.${name}`),
      );
      const names = [
        'type',
        'index',
        'delta',
        'message',
        'content_block',
        'item',
        'response',
        'choices',
        'usage',
        'error',
        'text',
        'tool_calls',
        'output_index',
        'id',
      ];
      const value = fc.letrec((tie) => ({
        any: fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom(null, 0, -1, 1e300, '', 'x', true),
          fc.array(tie('any'), { maxLength: 3 }),
          fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 4 }),
        ),
      })).any;
      const frame = fc.oneof(
        fc
          .tuple(types, fc.dictionary(fc.constantFrom(...names), value))
          .map(([type, rest]) => JSON.stringify({ ...rest, type })),
        fc.dictionary(fc.constantFrom(...names), value).map((rest) => JSON.stringify(rest)),
        fc.string(),
        fc.constantFrom('[DONE]', '{', 'null', '[]'),
      );
      fc.assert(
        fc.property(fc.array(frame, { maxLength: 8 }), fc.uint8Array({ maxLength: 30 }), (frames, noise) => {
          const { answer } = open(caller, spoken);
          answer.push(stream(START[spoken], ...frames));
          answer.push(Buffer.from(noise));
          answer.end();
          expect(answer.characters).toBeGreaterThanOrEqual(0);
        }),
        { numRuns: 60 },
      );
    });

    it(`reads on after a frame that is no JSON and unknown events (${cell})`, () => {
      const { answer } = open(caller, spoken);
      const bytes = Buffer.concat([
        stream(START[spoken], '{broken', { type: 'some.news', x: 1 }),
        Buffer.from(': a comment\nevent: x\nid: 1\nretry: 5\n\n'),
        stream(TEXT[spoken]('hello')),
      ]);
      expect(said(answer, bytes)).toContain('hello');
      expect([answer.begun, answer.characters, answer.complete, answer.error]).toEqual([true, 5, false, null]);
    });

    it(`holds no more than one line, and says so of a longer one where it cannot be passed on (${cell})`, () => {
      const { answer } = open(caller, spoken);
      answer.push(stream(START[spoken]));
      const before = process.memoryUsage().arrayBuffers;
      answer.push(Buffer.from('data: {"x":"'));
      for (let sent = 0; sent < 40; sent += 1) answer.push(Buffer.alloc(1024 * 1024, 0x61));
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(MAX_LINE + 48 * 1024 * 1024);
      answer.push(Buffer.concat([Buffer.from('"}\n\n'), stream(TEXT[spoken]('after'))]));
      if (caller === spoken) expect([answer.error, answer.characters]).toEqual([null, 5]);
      else
        expect([answer.error?.message, answer.characters]).toEqual([
          'A frame of the answer is larger than the gateway reads.',
          0,
        ]);
    });

    it(`ends in an error when it never ends and would have to be held (${cell})`, () => {
      const { answer } = open(caller, spoken);
      answer.push(stream(START[spoken]));
      const piece = stream(...Array.from({ length: 16 }, () => TEXT[spoken]('x'.repeat(64 * 1024))));
      for (let sent = 0; sent < 70; sent += 1) answer.push(piece);
      expect(answer.error !== null).toBe(caller !== spoken);
      expect(answer.end()).toBeNull();
    });

    it(`is not taken for whole when it only stops (${cell})`, () => {
      const { answer } = open(caller, spoken);
      const text = said(answer, stream(START[spoken], TEXT[spoken]('half')));
      expect([answer.begun, answer.complete]).toEqual([true, false]);
      expect(text).not.toMatch(/\[DONE\]|message_stop|response\.completed|"finish_reason":"/);
    });

    it(`keeps an error of the provider, and does not show its text unless it passes through (${cell})`, () => {
      const { answer } = open(caller, spoken);
      const error = { message: 'secret words', type: 'overloaded_error', code: 'x' };
      const frame =
        spoken === 'responses' ? { type: 'response.failed', response: { error } } : { type: 'error', error };
      const text = said(answer, stream(START[spoken], TEXT[spoken]('half'), frame, TEXT[spoken]('more')));
      expect(answer.error).toEqual(error);
      expect(answer.complete).toBe(false);
      expect(text.includes('secret words')).toBe(caller === spoken);
    });
  }
});

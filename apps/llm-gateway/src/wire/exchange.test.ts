import { describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import fc from 'fast-check';
import { estimateCount, openCountTokens } from './count-tokens.js';
import { errorFrame, errorOf } from './errors.js';
import type { Target } from './exchange.js';
import { openExchange } from './open-exchange.js';
import { SPOKEN, said, testAsked, testExchange, testTarget } from './test-exchange.js';
import { traitsOf } from './traits.js';
import type { Spoken } from './translators.js';

const REQUESTS: Record<Spoken, object> = {
  chat: { model: 'asked', messages: [{ role: 'user', content: 'x' }] },
  responses: { model: 'asked', input: 'x' },
  messages: { model: 'asked', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
};
const refusalOf = (run: () => unknown): string => {
  try {
    run();
    return 'nothing';
  } catch (error) {
    if (!(error instanceof SlipwayError)) throw error;
    return `${error.code} ${error.detail}`;
  }
};
const bodyOf = (body: Buffer): Record<string, unknown> => JSON.parse(body.toString('utf8')) as Record<string, unknown>;

describe('a call to a provider', () => {
  it("goes to the path of the provider's dialect, with the key where that provider expects it", () => {
    const place = (caller: Spoken, target: Partial<Target>, headers = {}): unknown => {
      const exchange = openExchange(
        testAsked(caller, REQUESTS[caller], headers),
        testTarget(target.speaks?.[0] ?? 'chat', target),
      );
      const {
        authorization,
        'x-api-key': key,
        'anthropic-version': version,
        'anthropic-beta': beta,
        'openai-beta': openai,
      } = exchange.headers;
      return [exchange.origin, exchange.path, authorization, key, version, beta, openai];
    };
    const O = 'https://provider.example';
    expect(place('chat', { speaks: ['chat'] }, { 'openai-beta': 'a=1' })).toEqual([
      O,
      '/v1/chat/completions',
      'Bearer secret',
      undefined,
      undefined,
      undefined,
      'a=1',
    ]);
    expect(place('messages', { speaks: ['responses'] }, { 'anthropic-beta': 'b' })).toEqual([
      O,
      '/v1/responses',
      'Bearer secret',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(
      place('messages', { speaks: ['messages'] }, { 'anthropic-beta': 'b', 'anthropic-version': '2024-01-01' }),
    ).toEqual([...[O, '/v1/messages', undefined, 'secret', '2024-01-01', 'b', undefined]]);
    expect(place('chat', { speaks: ['messages'] }, { 'openai-beta': 'a=1' })).toEqual([
      O,
      '/v1/messages',
      undefined,
      'secret',
      '2023-06-01',
      undefined,
      undefined,
    ]);
    expect(place('chat', { speaks: ['chat'], provider: 'anthropic' })).toEqual([
      O,
      '/v1/chat/completions',
      'Bearer secret',
      ...Array(4).fill(undefined),
    ]);
    expect(place('messages', { speaks: ['messages'], provider: 'openai', apiKey: null })).toEqual([
      O,
      '/v1/messages',
      undefined,
      undefined,
      '2023-06-01',
      undefined,
      undefined,
    ]);
    expect(place('messages', { speaks: ['chat', 'messages'], provider: 'openai' })).toEqual([
      O,
      '/v1/messages',
      'Bearer secret',
      'secret',
      '2023-06-01',
      undefined,
      undefined,
    ]);
  });

  it('keeps every byte of a body but the name of the model and the request for counts', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
        fc.constantFrom('asked', 'ünlike "any"'),
        fc.boolean(),
        fc.option(fc.dictionary(fc.constantFrom('include_usage', 'x'), fc.boolean()), { nil: undefined }),
        fc.constantFrom(undefined, 2),
        fc.boolean(),
        (extra, model, stream, options, space, last) => {
          fc.pre(
            Object.keys(extra).every((name) => !['n', 'max_tokens', 'max_completion_tokens', 'tools'].includes(name)),
          );
          const fields = {
            model: 'asked',
            messages: [],
            stream,
            ...(options === undefined ? {} : { stream_options: options }),
          };
          const request = last ? { ...extra, ...fields } : { ...fields, ...extra };
          fc.pre(request.model === 'asked' && request.stream === stream);
          const text = JSON.stringify(request, null, space);
          const { body } = openExchange(testAsked('chat', Buffer.from(text)), testTarget('chat', { model }));
          const wanted = stream
            ? { ...request, model, stream_options: { ...options, include_usage: true } }
            : { ...request, model };
          expect(bodyOf(body)).toEqual(JSON.parse(JSON.stringify(wanted)));
          if (!stream && model === 'asked') expect(body.toString('utf8')).toBe(text);
        },
      ),
    );
    const { body } = testExchange('messages', { ...REQUESTS.messages, stream: true }, 'messages', { model: 'other' });
    expect(body.toString('utf8')).toBe(
      '{"model":"other","max_tokens":9,"messages":[{"role":"user","content":"x"}],"stream":true}',
    );
  });

  it('is refused by the name of the field where the provider has no equivalent', () => {
    const refused = (caller: Spoken, more: object, spoken: Spoken): string =>
      refusalOf(() => testExchange(caller, { ...REQUESTS[caller], ...more }, spoken));
    const call = [{ role: 'user', content: 'x' }];
    for (const [caller, more, spoken, field] of [
      ['chat', { n: 2 }, 'messages', 'n:'],
      ['chat', { logprobs: true }, 'responses', 'logprobs:'],
      ['chat', { stop: ['x'] }, 'responses', 'stop:'],
      [
        'chat',
        { tools: [{ type: 'custom', custom: { name: 'patch' } }] },
        'messages',
        'tools[0]: a tool of the type custom',
      ],
      [
        'chat',
        { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
        'messages',
        'messages[0].content[0].type: input_audio',
      ],
      ['responses', { previous_response_id: 'resp_1' }, 'chat', 'previous_response_id: answers are kept'],
      ['responses', { tools: [{ type: 'web_search' }] }, 'chat', 'tools[0]: the tool web_search'],
      ['responses', { input: [{ type: 'item_reference', id: 'rs_1' }] }, 'chat', 'input[0]: items are kept'],
      ['responses', { input: [{ type: 'computer_call' }] }, 'messages', 'input[0].type: computer_call'],
      [
        'messages',
        { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
        'chat',
        'tools[0]: the tool web_search_20250305',
      ],
      ['messages', { stop_sequences: ['x'] }, 'responses', 'stop_sequences:'],
      ['messages', { mcp_servers: [{}] }, 'chat', 'mcp_servers:'],
      [
        'messages',
        { messages: [{ role: 'assistant', content: [{ type: 'server_tool_use' }] }] },
        'chat',
        'messages[0].content[0].type: server_tool_use',
      ],
    ] as const) {
      expect(refused(caller, more, spoken)).toContain(`request.invalid ${field}`);
      expect(refused(caller, more, caller)).toBe('nothing');
    }
    expect(
      refused('responses', { store: false, previous_response_id: null, conversation: null, include: [] }, 'chat'),
    ).toBe('nothing');
    expect(
      refused('chat', { messages: call, n: 1, logprobs: false, seed: 3, logit_bias: {}, functions: [] }, 'messages'),
    ).toBe('nothing');
    expect(refusalOf(() => testExchange('embeddings', { model: 'a', input: 'x' }, 'chat'))).toContain(
      'request.invalid model: this model gives no embeddings',
    );
  });

  it('asks for no longer answer than the model gives, and says nothing that is for another provider alone', () => {
    const system = [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=1f3;' },
      { type: 'text', text: 'Be brief.' },
    ];
    const request = { ...REQUESTS.messages, max_tokens: 32_000, system };
    const { body } = testExchange('messages', request, 'chat', { model: 'gpt-4o', maxOutputTokens: 16_384 });
    expect(bodyOf(body)).toMatchObject({
      max_tokens: 16_384,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'x' },
      ],
    });
    expect(bodyOf(testExchange('messages', request, 'messages', { maxOutputTokens: 16_384 }).body)).toMatchObject({
      max_tokens: 32_000,
      system,
    });
  });

  it('asks for reasoning in the way that the model takes it', () => {
    const asked = (caller: Spoken, more: object, spoken: Spoken, model: string): Record<string, unknown> =>
      bodyOf(testExchange(caller, { ...REQUESTS[caller], ...more }, spoken, { model }).body);
    const high = { reasoning_effort: 'high', temperature: 0.2, max_completion_tokens: 20_000 };
    expect(asked('chat', high, 'messages', 'claude-opus-4-7')).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
    });
    expect(asked('chat', high, 'messages', 'claude-opus-4-7')).not.toHaveProperty('temperature');
    expect(asked('chat', high, 'messages', 'claude-sonnet-4-5')).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 16_384 },
      max_tokens: 20_000,
    });
    expect(asked('chat', { ...high, max_completion_tokens: 4_000 }, 'messages', 'claude-sonnet-4-5')).toMatchObject({
      thinking: { budget_tokens: 2_000 },
    });
    expect(asked('chat', high, 'messages', 'claude-3-5-haiku-20241022')).not.toHaveProperty('thinking');
    const budget = { thinking: { type: 'enabled', budget_tokens: 5_000 } };
    expect(asked('messages', budget, 'chat', 'gpt-5')).toMatchObject({
      reasoning_effort: 'medium',
      max_completion_tokens: 9,
    });
    expect(asked('messages', budget, 'responses', 'gpt-5')).toMatchObject({
      reasoning: { effort: 'medium' },
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    expect(asked('messages', { thinking: { type: 'disabled' } }, 'chat', 'gpt-5-mini')).toMatchObject({
      reasoning_effort: 'minimal',
    });
    expect(asked('messages', { thinking: { type: 'disabled' } }, 'chat', 'qwen3')).not.toHaveProperty(
      'reasoning_effort',
    );
    expect(asked('messages', { temperature: 0.2 }, 'chat', 'gpt-5')).not.toHaveProperty('temperature');
    expect(asked('messages', { temperature: 0.2 }, 'chat', 'gpt-4o')).toMatchObject({ temperature: 0.2 });
    expect(traitsOf({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-4o' })).toMatchObject({
      chatAdditions: false,
      chatLimit: 'max_completion_tokens',
    });
    expect(traitsOf({ baseUrl: 'http://vllm:8000/v1', model: 'qwen3' })).toMatchObject({
      chatAdditions: true,
      chatLimit: 'max_tokens',
    });
  });
});

describe('reasoning that was signed by one provider', () => {
  const thought = {
    messages: [{ type: 'thinking', thinking: 'I think.', signature: 'SIG' }],
    chat: { reasoning_content: 'I think.', thinking_blocks: [] },
  };
  const turns = (content: unknown): object => ({
    ...REQUESTS.messages,
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content },
      { role: 'user', content: 'y' },
    ],
  });

  it('goes back to it through a caller of another dialect, and is shown to no other', () => {
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'I think.' }],
      encrypted_content: 'SIG',
    };
    const answer = {
      id: 'r',
      model: 'm',
      output: [item, { type: 'message', content: [{ type: 'output_text', text: 'ok' }] }],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const toClaude = bodyOf(
      testExchange('messages', REQUESTS.messages, 'responses').answer.whole(Buffer.from(JSON.stringify(answer))),
    );
    const content = toClaude['content'] as { signature?: string }[];
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: 'I think.' });
    expect(content[0]?.signature).not.toBe('SIG');
    const back = bodyOf(testExchange('messages', turns(content), 'responses').body);
    expect(back['input']).toContainEqual(expect.objectContaining({ type: 'reasoning', encrypted_content: 'SIG' }));
    // The conversation goes on with Claude itself: passed through, but for what Claude never signed.
    const elsewhere = bodyOf(testExchange('messages', turns(content), 'messages').body);
    expect(JSON.stringify(elsewhere)).not.toContain('SIG');
    expect(elsewhere['messages']).toContainEqual({ role: 'assistant', content: [{ type: 'text', text: 'ok' }] });
    expect(JSON.stringify(bodyOf(testExchange('messages', turns(content), 'chat').body))).not.toContain('SIG');
  });

  it("crosses chat in LiteLLM's thinking_blocks, both ways", () => {
    const toChat = bodyOf(
      testExchange('messages', turns([...thought.messages, { type: 'text', text: 'ok' }]), 'chat').body,
    );
    expect(toChat['messages']).toContainEqual(
      expect.objectContaining({ reasoning_content: 'I think.', thinking_blocks: thought.messages, content: 'ok' }),
    );
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'ok', thinking_blocks: thought.messages },
      { role: 'user', content: 'y' },
    ];
    const fromChat = bodyOf(testExchange('chat', { model: 'asked', messages }, 'messages').body);
    expect(fromChat['messages']).toContainEqual({
      role: 'assistant',
      content: [...thought.messages, { type: 'text', text: 'ok' }],
    });
    const strict = bodyOf(
      testExchange('messages', turns([...thought.messages, { type: 'text', text: 'ok' }]), 'chat', {
        baseUrl: 'https://api.openai.com/v1',
      }).body,
    );
    expect(JSON.stringify(strict)).not.toMatch(/thinking_blocks|reasoning_content/);
  });
});

describe('what an answer has counted', () => {
  it('is the prompt until its end, with what has passed beside it', () => {
    const { answer } = testExchange('messages', { ...REQUESTS.messages, stream: true }, 'messages');
    const start = {
      type: 'message_start',
      message: {
        usage: { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 1 },
      },
    };
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x'.repeat(400) } };
    said(answer, Buffer.from(`data: ${JSON.stringify(start)}\n\ndata: ${JSON.stringify(delta)}\n\n`));
    expect(answer.usage).toEqual({
      promptTokens: 105,
      completionTokens: 1,
      cachedTokens: 90,
      cacheWriteTokens: 5,
      reasoningTokens: 0,
    });
    expect([answer.characters, answer.bytes, answer.complete]).toEqual([400, 400, false]);
    answer.push(
      Buffer.from('data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":88}}\n\n'),
    );
    expect([answer.usage?.completionTokens, answer.complete]).toEqual([88, true]);
  });

  it('is counted for embeddings too', () => {
    const { answer } = testExchange('embeddings', { model: 'a', input: 'x' }, 'embeddings');
    answer.whole(
      Buffer.from('{"object":"list","data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":7,"total_tokens":7}}'),
    );
    expect(answer.usage).toMatchObject({ promptTokens: 7, completionTokens: 0 });
  });

  it('is said to be no answer when it is none', () => {
    for (const caller of SPOKEN) {
      for (const spoken of SPOKEN) {
        for (const body of ['', 'null', '[]', '{}', '<html>', '{"error":{"message":"no"}}']) {
          const { answer } = testExchange(caller, REQUESTS[caller], spoken);
          expect(refusalOf(() => answer.whole(Buffer.from(body)))).toContain('model.bad-response');
          if (body.includes('error')) expect(answer.error).toEqual({ message: 'no' });
        }
      }
    }
  });
});

describe('an error', () => {
  const error = new SlipwayError('budget.exhausted', 'The budget is used up.', { retryAfterSeconds: 2.5 });

  it('has the shape of the dialect, with our code in it', () => {
    expect(errorOf('messages', error)).toMatchObject({
      status: 402,
      headers: { 'retry-after': '3' },
      body: {
        type: 'error',
        error: { type: 'billing_error', message: 'The budget is used up.', code: 'budget.exhausted' },
      },
    });
    for (const dialect of ['chat', 'responses', 'embeddings'] as const)
      expect(errorOf(dialect, error).body).toEqual({
        error: { message: 'The budget is used up.', type: 'insufficient_quota', code: 'budget.exhausted', param: null },
      });
    expect(JSON.stringify(errorOf('chat', new Error('secret')).body)).not.toContain('secret');
  });

  it('ends a stream after the last count, in frames that its clients take for an error', () => {
    const usage = { promptTokens: 5, completionTokens: 6, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const frames = (dialect: Spoken): Record<string, unknown>[] =>
      [...errorFrame(dialect, error, { frames: 7, usage }).matchAll(/^data: (.*)$/gm)].map(
        (match) => JSON.parse(match[1] ?? '') as Record<string, unknown>,
      );
    expect(frames('chat')).toMatchObject([
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 6 } },
      { error: { code: 'budget.exhausted' } },
    ]);
    expect(frames('messages')).toMatchObject([
      { type: 'message_delta', usage: { input_tokens: 5, output_tokens: 6 } },
      { type: 'error', error: { type: 'billing_error' } },
    ]);
    expect(frames('responses')).toMatchObject([
      {
        type: 'response.failed',
        sequence_number: 7,
        response: {
          status: 'failed',
          error: { code: 'insufficient_quota', slipway_code: 'budget.exhausted' },
          usage: { input_tokens: 5 },
        },
      },
      { type: 'error', sequence_number: 8, error: { code: 'budget.exhausted' } },
    ]);
  });
});

describe('count_tokens', () => {
  it('is asked of a target that counts, and guessed with a mark for one that does not', () => {
    const asked = testAsked('messages', { ...REQUESTS.messages, model: 'asked' });
    expect(openCountTokens(asked, testTarget('chat'))).toBeNull();
    expect(openCountTokens(asked, testTarget('messages'))).toMatchObject({
      path: '/v1/messages/count_tokens',
      headers: { 'x-api-key': 'secret' },
    });
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(10_000) } };
    const { body, headers } = estimateCount(
      Buffer.from(
        JSON.stringify({ messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(400) }, image] }] }),
      ),
    );
    expect([JSON.parse(body), headers]).toEqual([{ input_tokens: 1_702 }, { 'x-slipway-estimated': 'true' }]);
  });
});

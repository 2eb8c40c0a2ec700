import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelServer, type ModelTurn, startModelServer, stopwatch, until } from '@slipway/testing';
import type { CompletionDelta } from './chat.js';
import { LLM } from './llm.js';
import { PRICE_HEADER } from './pricing.js';

const request = { messages: [{ role: 'user' as const, content: 'hello' }], tools: [] };

describe('the model client', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({ script: [] });
  });
  afterAll(() => server.close());

  function llm(turns: readonly ModelTurn[], idleTimeoutMs = 5_000): LLM {
    server.use(turns);
    return new LLM({ baseUrl: server.url, apiKey: 'sk-test', model: 'scripted', idleTimeoutMs });
  }

  it('puts text, reasoning, tool calls and usage together from the pieces, and shows each piece where it belongs', async () => {
    const deltas: CompletionDelta[] = [];
    const model = llm([
      {
        text: 'Let me look at that for you.',
        reasoning: 'hmm, well',
        toolCalls: [
          { name: 'terminal', arguments: { command: 'ls -la /some/where' } },
          { name: 'think', arguments: '{"thought":' },
        ],
        chunkLength: 3,
      },
    ]);
    const completion = await model.complete(request, {
      signal: AbortSignal.timeout(30_000),
      onDelta: (delta) => void deltas.push(delta),
      traceparent: '00-t-s-01',
    });
    expect(completion).toMatchObject({
      content: 'Let me look at that for you.',
      reasoning: 'hmm, well',
      finishReason: 'tool_calls',
    });
    expect(completion.toolCalls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['terminal', '{"command":"ls -la /some/where"}'],
      ['think', '{"thought":'],
    ]);
    let text = '';
    for (const delta of deltas.filter(({ channel }) => channel === 'content')) {
      expect(delta.offset).toBe(text.length);
      expect(delta.responseId).toBe(completion.id);
      text += delta.text;
    }
    expect(text).toBe(completion.content);
    expect(completion.usage.promptTokens).toBeGreaterThan(0);
    expect(model.total).toMatchObject({ calls: 1, promptTokens: completion.usage.promptTokens });
    expect(server.requests.at(-1)?.headers).toMatchObject({
      traceparent: '00-t-s-01',
      authorization: 'Bearer sk-test',
    });
    expect(server.requests.at(-1)?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  it('knows what a stream costs by the price at its head, of a model that no list has; by its own word where it says one', async () => {
    let usage: Record<string, unknown> = {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
    };
    const gateway = createServer((_request, response) => {
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        [PRICE_HEADER]: '{"input":10,"cachedInput":1,"output":20}',
      });
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`,
      );
    });
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    try {
      const model = new LLM({
        baseUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
        apiKey: null,
        model: 'own/model',
        idleTimeoutMs: 5_000,
      });
      const signal = AbortSignal.timeout(10_000);
      expect((await model.complete(request, { signal })).usage.costUsd).toBeCloseTo(0.0084, 12);
      usage = { ...usage, cost: 0.5 };
      expect((await model.complete(request, { signal })).usage.costUsd).toBe(0.5);
      expect(model.total.costUsd).toBeCloseTo(0.5084, 12);
    } finally {
      gateway.close();
    }
  });

  const failures: ReadonlyArray<readonly [string, ModelTurn, string]> = [
    ['a refused key', { fault: 'status', status: 401 }, 'model.auth'],
    ['used-up credit', { fault: 'status', status: 402 }, 'model.quota'],
    ['a limit of the conversation', { fault: 'status', status: 402, code: 'agent.budget-limit' }, 'agent.budget-limit'],
    ['a picture by its address', { fault: 'status', status: 400, code: 'model.media-by-url' }, 'model.media-by-url'],
    ['a spent budget of ours', { fault: 'status', status: 402, code: 'budget.exhausted' }, 'budget.exhausted'],
    [
      'used-up quota that calls itself a rate limit',
      { fault: 'status', status: 429, code: 'insufficient_quota' },
      'model.quota',
    ],
    ['a model that does not exist', { fault: 'status', status: 404 }, 'model.unknown'],
    ['a rate limit', { fault: 'status', status: 429, retryAfterSeconds: 7 }, 'model.rate-limited'],
    [
      'a conversation that is too long',
      { fault: 'status', status: 400, code: 'context_length_exceeded' },
      'model.context-exceeded',
    ],
    [
      'a rate in words of a length',
      { fault: 'status', status: 429, message: 'Too many tokens, please wait.', retryAfterSeconds: 7 },
      'model.rate-limited',
    ],
    ['content that a filter found', { fault: 'status', status: 400, code: 'content_filter' }, 'model.content-policy'],
    ['a fault of the provider', { fault: 'status', status: 500 }, 'model.unavailable'],
    ['a connection that is closed', { fault: 'cut' }, 'model.unavailable'],
    ['an answer that breaks off', { fault: 'cut-mid-stream', text: 'I was' }, 'model.unavailable'],
    ['a chunk that is not JSON', { fault: 'malformed-json' }, 'model.bad-response'],
    ['frames that are noise', { fault: 'malformed-sse' }, 'model.bad-response'],
    ['an answer about the weather', { fault: 'nonsense' }, 'model.bad-response'],
    ['a page of HTML', { fault: 'wrong-content-type' }, 'model.bad-response'],
    ['a line of 11 MB', { fault: 'huge-line', bytes: 11 * 1024 * 1024 }, 'model.bad-response'],
    ['an error inside the stream', { fault: 'error-in-stream', text: 'so' }, 'model.unavailable'],
    ['silence', { fault: 'hang' }, 'model.timeout'],
    ['silence in the middle', { fault: 'hang-mid-stream', text: 'well' }, 'model.timeout'],
  ];
  for (const [name, turn, code] of failures) {
    it(`names ${name} ${code}`, async () => {
      const failure = await llm([turn], code === 'model.timeout' ? 100 : 5_000)
        .complete(request, { signal: AbortSignal.timeout(10_000) })
        .then(
          () => null,
          (error: unknown) => error,
        );
      expect(failure).toMatchObject({ name: 'SlipwayError', code });
      if (code === 'model.rate-limited') expect(failure).toMatchObject({ more: { retryAfterSeconds: 7 } });
    });
  }

  it('breaks off at once when it is stopped, before the answer and in the middle of it', async () => {
    for (const turn of [{ fault: 'hang' }, { fault: 'hang-mid-stream', text: 'a word' }] as const) {
      const stop = new AbortController();
      const model = llm([turn]);
      const calls = server.requests.length;
      let saw = false;
      const call = model.complete(request, {
        signal: stop.signal,
        onDelta: () => {
          saw = true;
        },
      });
      call.catch(() => {});
      await until('it is under way', () => server.requests.length > calls && (turn.fault === 'hang' || saw));
      const passed = stopwatch();
      stop.abort(new Error('stopped'));
      await expect(call).rejects.toThrow('stopped');
      expect(passed()).toBeLessThan(1_000);
      await until('the server sees it', () => server.requests.at(-1)?.abortedAt !== null);
    }
  });
});

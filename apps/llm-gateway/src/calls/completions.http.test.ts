import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PRICE_HEADER, priceOf, priceSaid } from '@slipway/llm';
import { type ModelFault, startModelServer, stopwatch, until } from '@slipway/testing';
import { MODEL, PROVIDER_KEY, startTestGateway, type TestGateway } from '../test-gateway.js';

const messages = [{ role: 'user', content: 'hi' }];
const whole = { model: MODEL, messages };
const streamed = { model: MODEL, messages, stream: true };
const PATH = '/v1/chat/completions';

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway({ LLM_FIRST_BYTE_TIMEOUT_SECONDS: '1', LLM_SILENCE_TIMEOUT_SECONDS: '1' });
});
afterAll(() => test.close());

/** A conversation of its own, so that each test reads its own ledger. */
async function conversation(): Promise<{ id: string; key: string }> {
  const id = randomUUID();
  return { id, key: await test.key(id) };
}

/** What the provider itself answers to the same body. */
async function direct(body: object): Promise<string> {
  const response = await fetch(`${test.model.url}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${PROVIDER_KEY}` },
    body: JSON.stringify(body),
  });
  return response.text();
}

interface ErrorBody {
  error: { message: string; type: string; code: string; param: null };
}

describe('200', () => {
  it('passes a whole answer through byte for byte, with its cost in a header', async () => {
    const { id, key } = await conversation();
    test.model.use(() => ({
      text: 'ünïcode "quoted"',
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 1100,
        prompt_tokens_details: { cached_tokens: 400 },
      },
    }));
    const response = await test.post(PATH, whole, key);
    expect(response.status).toBe(200);
    const body = await response.text();
    expect(withoutId(body)).toBe(withoutId(await direct(whole)));
    // gpt-4o: 2.5 / 1.25 cached / 10 USD a million.
    expect(Number(response.headers.get('x-litellm-response-cost'))).toBeCloseTo(0.003, 12);
    const [row] = await test.ledger(id, 1);
    expect(row).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 100,
      cached_tokens: 400,
      usage_source: 'reported',
      status: 'ok',
      cost_known: true,
      streamed: false,
    });
    expect(Number(row?.cost_usd)).toBeCloseTo(0.003, 10);
  });

  it('passes a stream through byte for byte, however it is cut into chunks', async () => {
    for (const chunkLength of [1, 7, 1000]) {
      const { id, key } = await conversation();
      test.model.use(() => ({
        text: 'Grüße 🎈 '.repeat(20),
        toolCalls: [{ name: 'terminal', arguments: { command: 'ls' }, id: 'call_1' }],
        chunkLength,
      }));
      const response = await test.post(PATH, { ...streamed, stream_options: { include_usage: true } }, key);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      // What it comes to is known at its end only: the caller counts by the price at its head.
      expect(priceSaid(response.headers.get(PRICE_HEADER))).toEqual(priceOf('gpt-4o'));
      const body = await response.text();
      const sent = test.model.requests.at(-1)?.body ?? {};
      expect(withoutId(body)).toBe(withoutId(await direct(sent)));
      const [row] = await test.ledger(id, 1);
      expect(row).toMatchObject({ usage_source: 'reported', status: 'ok', streamed: true });
    }
  });

  it('sends a body that says its own limit on as it came, with nothing added but the request for usage in a stream', async () => {
    const { key } = await conversation();
    const body = `{ "messages" : [{"role":"user","content":"\\u00fc 1.0e5"}],\n "model":"${MODEL}", "max_tokens": 1e3, "temperature": 1.50, "stream":false }`;
    test.model.use(() => ({ text: 'ok' }));
    await (await test.post(PATH, body, key)).text();
    expect(test.model.requests.at(-1)?.raw.toString()).toBe(body);
    await (await test.post(PATH, body.replace('false', 'true'), key)).text();
    expect(test.model.requests.at(-1)?.raw.toString()).toBe(
      body.replace('false', 'true').replace('{', '{"stream_options":{"include_usage":true},'),
    );
  });

  it("gives the provider its own key and the caller's trace, and none of the caller's headers", async () => {
    const { id, key } = await conversation();
    test.model.use(() => ({ text: 'ok' }));
    const traceId = '0123456789abcdef0123456789abcdef';
    const response = await test.post(PATH, whole, key, {
      headers: {
        traceparent: `00-${traceId}-0123456789abcdef-01`,
        cookie: 'secret=1',
        'x-request-id': 'req_of_the_caller',
      },
    });
    expect(response.headers.get('x-request-id')).toBe('req_of_the_caller');
    const headers = test.model.requests.at(-1)?.headers ?? {};
    expect(headers['authorization']).toBe(`Bearer ${PROVIDER_KEY}`);
    expect(headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    expect(headers['cookie']).toBeUndefined();
    const [row] = await test.ledger(id, 1);
    expect(row?.trace_id).toBe(traceId);
  });

  it('answers on the path without /v1 too', async () => {
    const { key } = await conversation();
    test.model.use(() => ({ text: 'ok' }));
    expect((await test.post('/chat/completions', whole, key)).status).toBe(200);
  });

  it('counts by estimate when the provider does not count, and says so', async () => {
    const { id, key } = await conversation();
    test.model.use(() => ({ text: 'x'.repeat(400), usage: null }));
    await (await test.post(PATH, streamed, key)).text();
    const [row] = await test.ledger(id, 1);
    expect(row).toMatchObject({ usage_source: 'estimated', completion_tokens: 400, status: 'ok' });
  });

  it('waits with the first bytes of a slow stream no longer than the provider does', async () => {
    const { key } = await conversation();
    test.model.use(() => ({ text: 'slow text'.repeat(6), chunkDelayMs: 100, chunkLength: 1 }));
    const passed = stopwatch();
    const response = await test.post(PATH, streamed, key);
    const reader = response.body?.getReader();
    await reader?.read();
    expect(passed()).toBeLessThan(2_500);
    await reader?.cancel();
  });

  it('holds a provider back that is faster than the caller, and loses nothing', async () => {
    const { key } = await conversation();
    test.model.use(() => ({ text: 'x'.repeat(16 * 1024 * 1024), chunkLength: 64 * 1024 }));
    const received = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(
        `${test.gateway.url}${PATH}`,
        { method: 'POST', headers: { authorization: `Bearer ${key}` } },
        (response) => {
          let bytes = 0;
          response.pause();
          setTimeout(() => {
            response.on('data', (part: Buffer) => {
              bytes += part.length;
            });
            response.on('end', () => resolve(bytes));
            response.resume();
          }, 300);
        },
      );
      request.on('error', reject);
      request.end(JSON.stringify(streamed));
    });
    expect(received).toBeGreaterThanOrEqual(16 * 1024 * 1024);
  });
});

describe('400, 401, 403, 404, 413 of the gateway itself', () => {
  const code = async (response: Response): Promise<[number, string]> => [
    response.status,
    ((await response.json()) as ErrorBody).error.code,
  ];

  it('names what is wrong with the request, and asks the provider nothing', async () => {
    const { key } = await conversation();
    const before = test.model.requests.length;
    expect(await code(await test.post(PATH, 'not json', key))).toEqual([400, 'request.not-json']);
    expect(await code(await test.post(PATH, { messages }, key))).toEqual([400, 'request.invalid']);
    expect(await code(await test.post(PATH, { model: 'gpt-nothing', messages }, key))).toEqual([404, 'model.unknown']);
    expect(await code(await test.post(PATH, whole, 'sk-nothing'))).toEqual([401, 'auth.missing']);
    expect(await code(await fetch(`${test.gateway.url}${PATH}`, { method: 'POST', body: '{}' }))).toEqual([
      401,
      'auth.missing',
    ]);
    expect(await code(await fetch(`${test.gateway.url}/v1/nothing`, { method: 'POST', body: '{}' }))).toEqual([
      404,
      'resource.not-found',
    ]);
    expect(test.model.requests.length).toBe(before);
  });

  it('lets a key be used only for the models that it names', async () => {
    const key = await test.key(randomUUID(), { models: ['slipway-demo'] });
    expect(await code(await test.post(PATH, whole, key))).toEqual([403, 'permission.denied']);
    expect((await test.post(PATH, { model: 'slipway-demo', messages }, key)).status).toBe(200);
  });

  it('refuses more than 32 MiB as soon as it is announced or sent, and takes 20 MiB', async () => {
    const { key } = await conversation();
    test.model.use(() => ({ text: 'ok' }));
    const big = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'x'.repeat(20 * 1024 * 1024) }] });
    expect((await test.post(PATH, big, key)).status).toBe(200);
    expect(await announce(key, { 'content-length': String(33 * 1024 * 1024) }, Buffer.alloc(10))).toBe(413);
    expect(await announce(key, { 'transfer-encoding': 'chunked' }, Buffer.alloc(33 * 1024 * 1024, 0x20))).toBe(413);
  });
});

describe('failures of the provider', () => {
  const cases: ReadonlyArray<readonly [name: string, fault: ModelFault, body: object, status: number, code: string]> = [
    [
      '401',
      { fault: 'status', status: 401, message: `Incorrect API key provided: ${PROVIDER_KEY}`, code: 'invalid_api_key' },
      streamed,
      401,
      'model.auth',
    ],
    ['403', { fault: 'status', status: 403 }, whole, 401, 'model.auth'],
    ['402', { fault: 'status', status: 402 }, whole, 402, 'model.quota'],
    ['429 for lack of credit', { fault: 'status', status: 429, code: 'insufficient_quota' }, whole, 402, 'model.quota'],
    ['404', { fault: 'status', status: 404, code: 'model_not_found' }, streamed, 404, 'model.unknown'],
    ['429', { fault: 'status', status: 429, retryAfterSeconds: 7 }, streamed, 429, 'model.rate-limited'],
    ['400', { fault: 'status', status: 400, message: 'bad tool schema' }, whole, 400, 'request.invalid'],
    [
      'a context that is too long',
      { fault: 'status', status: 400, code: 'context_length_exceeded' },
      whole,
      400,
      'model.context-exceeded',
    ],
    ['500', { fault: 'status', status: 500 }, streamed, 502, 'model.unavailable'],
    ['503 with a page', { fault: 'status', status: 503, body: '<html>down</html>' }, whole, 502, 'model.unavailable'],
    ['a redirect', { fault: 'status', status: 302, body: '' }, whole, 502, 'model.bad-response'],
    ['a connection that breaks', { fault: 'cut' }, streamed, 502, 'model.unavailable'],
    ['silence', { fault: 'hang' }, streamed, 504, 'model.timeout'],
    ['silence for a whole answer', { fault: 'hang' }, whole, 504, 'model.timeout'],
    ['broken JSON', { fault: 'malformed-json' }, whole, 502, 'model.bad-response'],
    ['JSON that is no completion', { fault: 'nonsense' }, whole, 502, 'model.bad-response'],
    ['a page of HTML', { fault: 'wrong-content-type' }, streamed, 502, 'model.bad-response'],
    ['an answer without end', { fault: 'huge-line', bytes: 40 * 1024 * 1024 }, whole, 502, 'model.bad-response'],
  ];
  for (const [name, fault, body, status, code] of cases) {
    it(`${name}: ${status} ${code}, in OpenAI's form, once in the ledger`, async () => {
      const { id, key } = await conversation();
      test.model.use(() => fault);
      const before = test.model.requests.length;
      const response = await test.post(PATH, body, key);
      const text = await response.text();
      expect([response.status, (JSON.parse(text) as ErrorBody).error.code]).toEqual([status, code]);
      expect(text).not.toContain(PROVIDER_KEY);
      expect(response.headers.get('retry-after')).toBe(
        fault.fault === 'status' && fault.retryAfterSeconds !== undefined ? '7' : null,
      );
      const rows = await test.ledger(id, 1);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ status: 'failed', error_code: code });
      expect(test.model.requests.length).toBe(before + 1);
    });
  }

  const midStream: ReadonlyArray<readonly [name: string, fault: ModelFault, code: string]> = [
    ['cut', { fault: 'cut-mid-stream', text: 'x'.repeat(40) }, 'model.unavailable'],
    ['silent', { fault: 'hang-mid-stream', text: 'x'.repeat(40) }, 'model.timeout'],
  ];
  for (const [name, fault, code] of midStream) {
    it(`a stream that is ${name} in the middle ends with an error frame and without an end, and what was granted is in the ledger`, async () => {
      const { id, key } = await conversation();
      test.model.use(() => fault);
      const response = await test.post(PATH, streamed, key);
      const { text, whole: ended } = await readAsFarAsItGoes(response);
      expect(text).toContain('xxxx');
      expect(text).not.toContain('[DONE]');
      expect(ended).toBe(false);
      const last = text.trim().split('\n').at(-1) ?? '';
      expect((JSON.parse(last.slice('data: '.length)) as ErrorBody).error.code).toBe(code);
      const [row] = await test.ledger(id, 1);
      expect(row).toMatchObject({
        status: 'failed',
        error_code: code,
        usage_source: 'estimated',
        completion_tokens: 16_384,
      });
    });
  }

  it('an error that the provider puts into its stream passes through and is a failure in the ledger', async () => {
    const { id, key } = await conversation();
    test.model.use(() => ({ fault: 'error-in-stream', message: 'overloaded' }));
    const text = await (await test.post(PATH, streamed, key)).text();
    expect(text).toContain('overloaded');
    const [row] = await test.ledger(id, 1);
    expect(row).toMatchObject({ status: 'failed', error_code: 'model.unavailable' });
  });

  it('what is no JSON in a stream is left out, and the answer read', async () => {
    const { id, key } = await conversation();
    test.model.use(() => ({ fault: 'malformed-sse' }));
    const text = await (await test.post(PATH, streamed, key)).text();
    expect(text).toContain('after the noise');
    expect(text).not.toContain('not json');
    expect((await test.ledger(id, 1))[0]).toMatchObject({ status: 'ok' });
  });

  it('a provider that is not there is model.unavailable', async () => {
    const gone = await startModelServer({ script: [] });
    await gone.close();
    const other = await startTestGateway({ LLM_BASE_URL: gone.url });
    try {
      const response = await other.post(PATH, whole, await other.key());
      const body = (await response.json()) as ErrorBody;
      expect([response.status, body.error.code]).toEqual([502, 'model.unavailable']);
      expect(body.error.message).not.toContain('127.0.0.1');
    } finally {
      await other.close();
    }
  });
});

/** As clients do that stop reading at the last word. */
async function readToDone(url: Promise<Response>): Promise<void> {
  const reader = (await url).body?.getReader();
  let text = '';
  while (!text.includes('[DONE]')) text += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
}

describe('a caller that goes away', () => {
  it('has broken nothing off when it goes with the last word, while the provider’s stream stays open', async () => {
    const { id, key } = await conversation();
    test.model.use(() => ({ text: 'whole', lingerMs: 30_000 }));
    await readToDone(test.post(PATH, streamed, key));
    expect(await test.ledger(id, 1)).toMatchObject([{ status: 'ok', usage_source: 'reported' }]);
  });

  it('ends the call at the provider within half a second, before and in the middle of an answer', async () => {
    for (const turn of [{ fault: 'hang' }, { text: 'x'.repeat(1000), chunkDelayMs: 50, chunkLength: 10 }] as const) {
      const { id, key } = await conversation();
      test.model.use(() => turn);
      const before = test.model.requests.length;
      const controller = new AbortController();
      const answer = test.post(PATH, streamed, key, { signal: controller.signal }).then(
        (response) => response.text().catch(() => ''),
        () => '',
      );
      await until('the provider has the request', () => test.model.requests.length > before);
      const seen = test.model.requests[before];
      if (!('fault' in turn)) await new Promise((resolve) => setTimeout(resolve, 150));
      const passed = stopwatch();
      controller.abort();
      await until('the provider sees it', () => seen?.abortedAt !== null);
      expect(passed()).toBeLessThan(500);
      await answer;
      const rows = await test.ledger(id, 1);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ status: 'aborted', usage_source: 'estimated' });
      expect(rows[0]?.prompt_tokens).toBeGreaterThan(0);
    }
  });

  it('leaves each call once in the ledger, whatever mixture of ends, aborts and repeats there was', async () => {
    const { id, key } = await conversation();
    const usage = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };
    test.model.use((request) => {
      if (request.number % 5 === 0) return { fault: 'status', status: 500 };
      return { text: 'some words of an answer', usage, chunkDelayMs: request.number % 3, chunkLength: 4 };
    });
    const before = test.model.requests.length;
    const calls = Array.from({ length: 60 }, async (_, index) => {
      const controller = new AbortController();
      if (index % 4 === 0) setTimeout(() => controller.abort(), index % 7);
      const response = await test.post(PATH, streamed, key, { signal: controller.signal }).catch(() => null);
      return (await response?.text().catch(() => '')) ?? '';
    });
    await Promise.all(calls);
    const sent = test.model.requests.slice(before);
    const rows = await test.ledger(id, sent.length);
    await until('the provider is done', () => sent.every((request) => request.finished || request.abortedAt !== null));
    const ok = rows.filter((row) => row.status === 'ok');
    // A request that the provider never saw may have a line (the caller went away on the way); one that it saw has
    // exactly one.
    expect(rows.filter((row) => row.usage_source !== 'none').length).toBeGreaterThanOrEqual(
      sent.length - rows.filter((row) => row.status === 'failed').length,
    );
    expect(rows.length).toBeLessThanOrEqual(60);
    expect(ok.every((row) => row.prompt_tokens === 11 && row.completion_tokens === 5)).toBe(true);
    expect(rows.filter((row) => row.status === 'failed').length).toBe(
      sent.filter((request) => request.number % 5 === 0 && request.finished).length,
    );
  });
});

/** A scripted answer's id has the number of its request. */
function withoutId(text: string): string {
  return text.replaceAll(/chatcmpl-scripted-\d+/g, 'id');
}

async function readAsFarAsItGoes(response: Response): Promise<{ text: string; whole: boolean }> {
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true });
    return { text, whole: true };
  } catch {
    return { text, whole: false };
  }
}

/** Status of a request that is sent with its headers and as much of its body as the server takes. */
function announce(key: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${test.gateway.url}${PATH}`,
      { method: 'POST', headers: { authorization: `Bearer ${key}`, ...headers } },
      (response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      },
    );
    request.on('error', reject);
    request.write(body);
  });
}

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.close());

const asked = {
  chat: { messages: [{ role: 'user', content: 'hi' }] },
  messages: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 100 },
  responses: { input: 'hi' },
};
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' };
/** A member of the last frame of a whole stream. */
const ENDS = { chat: '[DONE]', messages: 'message_stop', responses: 'response.completed' };

describe('every dialect', () => {
  for (const dialect of ['chat', 'messages', 'responses'] as const) {
    for (const model of [MODEL, 'slipway-demo']) {
      it(`${dialect} is answered in its own form by ${model}, streamed and not, with and without /v1, and counted`, async () => {
        const id = randomUUID();
        const key = await test.key(id);
        test.model.use(() => ({
          text: 'an answer',
          usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
        }));
        const whole = await test.post(PATHS[dialect], { ...asked[dialect], model }, key);
        expect(whole.status).toBe(200);
        expect(Object.keys((await whole.json()) as object)).toContain(
          { chat: 'choices', messages: 'content', responses: 'output' }[dialect],
        );
        const streamed = await test.post(
          PATHS[dialect].slice('/v1'.length),
          { ...asked[dialect], model, stream: true },
          key,
        );
        expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/);
        expect(await streamed.text()).toContain(ENDS[dialect]);
        const rows = await test.ledger(id, 2);
        expect(rows.map((row) => [row.status, row.usage_source, row.model])).toEqual(
          Array.from({ length: 2 }, () => ['ok', 'reported', model]),
        );
      });
    }
  }

  it("takes the key by Anthropic's header, and refuses in the form of the dialect", async () => {
    const key = await test.key();
    const post = (headers: Record<string, string>, path: string, body: object): Promise<Response> =>
      fetch(test.gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    test.model.use(() => ({ text: 'ok' }));
    expect((await post({ 'x-api-key': key }, PATHS.messages, { ...asked.messages, model: MODEL })).status).toBe(200);
    const refused = await post({ 'x-api-key': 'sk-nothing' }, PATHS.messages, { ...asked.messages, model: MODEL });
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { type: 'error', error: expect.objectContaining({ type: 'authentication_error', code: 'auth.missing' }) },
    ]);
    const unknown = await post({ 'x-api-key': key }, PATHS.responses, { ...asked.responses, model: 'nothing' });
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { error: expect.objectContaining({ code: 'model.unknown' }) },
    ]);
  });

  it('counts the tokens of a request as a row of the ledger that costs nothing, by its own guess where the provider does not count', async () => {
    const id = randomUUID();
    const key = await test.key(id);
    for (const model of [MODEL, 'slipway-demo']) {
      const response = await test.post(
        '/v1/messages/count_tokens',
        { model, messages: [{ role: 'user', content: 'x'.repeat(400) }] },
        key,
      );
      expect([response.status, response.headers.get('x-slipway-estimated')]).toEqual([200, 'true']);
      expect(((await response.json()) as { input_tokens: number }).input_tokens).toBe(100);
    }
    const rows = await test.ledger(id, 2);
    expect(
      rows.map(({ model, status, purpose, cost_usd: usd, prompt_tokens: tokens }) => [
        model,
        status,
        purpose,
        Number(usd),
        tokens,
      ]),
    ).toEqual([
      [MODEL, 'ok', 'count-tokens', 0, 0],
      ['slipway-demo', 'ok', 'count-tokens', 0, 0],
    ]);
  });

  it('counts a count of tokens against the calls a minute of its key', async () => {
    const key = await test.key(randomUUID(), { rpm_limit: 2 });
    const body = { model: 'slipway-demo', messages: [{ role: 'user', content: 'x' }] };
    const statuses: number[] = [];
    for (let again = 0; again < 3; again += 1)
      statuses.push((await test.post('/v1/messages/count_tokens', body, key)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const refused = await test.post('/v1/messages', { ...body, max_tokens: 5 }, key);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      { type: 'error', error: expect.objectContaining({ code: 'rate.limited' }) },
    ]);
  });
});

describe('deployments and models', () => {
  const get = async (
    path: string,
    key: string,
  ): Promise<{ status: number; body: { data: Array<Record<string, unknown>> } }> => {
    const response = await fetch(test.gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
    return { status: response.status, body: (await response.json()) as { data: Array<Record<string, unknown>> } };
  };

  it('shows how each place fares and tries one by a call, to the master key alone, without its address and key', async () => {
    const health = await get('/internal/deployments', MASTER_KEY);
    expect(health.body.data).toEqual([
      expect.objectContaining({ id: MODEL, model: MODEL, state: 'closed', provider: 'openai' }),
    ]);
    expect(JSON.stringify(health.body)).not.toMatch(/127\.0\.0\.1|sk-/);
    test.model.use(() => ({ text: 'pong', usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } }));
    const tried = await test.post(`/internal/deployments/${encodeURIComponent(MODEL)}/test`, {}, MASTER_KEY);
    expect(await tried.json()).toMatchObject({ ok: true, prompt_tokens: 9, completion_tokens: 1 });
    test.model.use(() => ({ fault: 'status', status: 401, message: 'Incorrect key sk-provider-0123456789abcdef' }));
    const failed = (await (await test.post(`/internal/deployments/${MODEL}/test`, {}, MASTER_KEY)).json()) as {
      detail: string;
    };
    expect(failed).toMatchObject({ ok: false, code: 'model.auth' });
    expect(failed.detail).not.toContain('sk-provider');
    const statuses: number[] = [];
    for (let again = 0; again < 20; again += 1)
      statuses.push((await test.post(`/internal/deployments/${MODEL}/test`, {}, MASTER_KEY)).status);
    expect([statuses[0], statuses.includes(429)]).toEqual([200, true]);
    await test.post('/v1/chat/completions', { ...asked.chat, model: MODEL }, await test.key());
    expect((await get('/internal/deployments', MASTER_KEY)).body.data).toEqual([
      expect.objectContaining({ in_flight: 0, last_failure: expect.objectContaining({ code: 'model.auth' }) }),
    ]);
    test.model.use(() => ({ text: 'ok' }));
    await test.post('/v1/chat/completions', { ...asked.chat, model: MODEL }, await test.key());
    expect((await get('/internal/deployments', MASTER_KEY)).body.data).toEqual([
      expect.objectContaining({
        first_byte_p50_ms: expect.any(Number),
        last_failure: expect.objectContaining({ code: 'model.auth' }),
      }),
    ]);
    const key = await test.key();
    expect((await get('/internal/deployments', key)).status).toBe(401);
    expect((await test.post('/internal/deployments/nothing/test', {}, MASTER_KEY)).status).toBe(404);
  });

  it("shows price and limits of a model, in LiteLLM's form", async () => {
    const { body } = await get('/model/info', await test.key());
    expect(body.data).toEqual([
      expect.objectContaining({
        model_name: MODEL,
        model_info: expect.objectContaining({
          max_input_tokens: 128_000,
          max_output_tokens: 16_384,
          input_cost_per_token: 2.5e-6,
          supports_vision: true,
          supports_reasoning: false,
        }),
      }),
    ]);
  });
});

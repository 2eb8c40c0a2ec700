import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PromptPage } from '@slipway/contracts/models';
import { until } from '@slipway/testing';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

const PATH = '/v1/chat/completions';
let test: TestGateway;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-cache-'));
  test = await startTestGateway({ RESPONSE_CACHE_SECONDS: '60', DATA_DIR: directory });
});
afterAll(async () => {
  await test?.close();
  await rm(directory, { recursive: true, force: true });
});

const ask = (content: string, stream = false) => ({ model: MODEL, stream, messages: [{ role: 'user', content }] });

describe('the cache of answers', () => {
  it('gives the same bytes for the same request again, streamed and not, at no cost and marked so, and calls no provider', async () => {
    for (const stream of [false, true]) {
      const id = randomUUID();
      const key = await test.key(id);
      test.model.use((request) => ({ text: `answer ${request.number}` }));
      const asked = test.model.requests.length;
      const first = await test.post(PATH, ask('same', stream), key);
      const text = await first.text();
      const { messages, model } = ask('same');
      const again = await test.post(PATH, { messages, model, stream }, key);
      expect([await again.text(), again.headers.get('x-slipway-cache')]).toEqual([text, 'hit']);
      expect(test.model.requests.length).toBe(asked + 1);
      const rows = (await test.ledger(id, 2)) as unknown as Array<{
        from_cache: boolean;
        cost_usd: string;
        prompt_tokens: number;
      }>;
      expect(rows.map((row) => [row.from_cache, Number(row.cost_usd) > 0, row.prompt_tokens > 0])).toEqual([
        [false, true, true],
        [true, false, false],
      ]);
    }
  });

  it('is asked for nothing by a request that says so, by a stream with tools, and by another request', async () => {
    const key = await test.key(randomUUID());
    test.model.use((request) => ({ text: `answer ${request.number}` }));
    const asked = test.model.requests.length;
    const tools = [{ type: 'function', function: { name: 'ls', parameters: {} } }];
    const no = { headers: { 'x-slipway-cache': 'no' } };
    await (await test.post(PATH, ask('kept away'), key, no)).text();
    await (await test.post(PATH, ask('kept away'), key, no)).text();
    await (await test.post(PATH, { ...ask('with tools', true), tools }, key)).text();
    await (await test.post(PATH, { ...ask('with tools', true), tools }, key)).text();
    await (await test.post(PATH, { ...ask('kept away'), reasoning_effort: 'low' }, key)).text();
    expect(test.model.requests.length).toBe(asked + 5);
  });
});

describe('the log of prompts', () => {
  const internal = async (method: string, rest: string, body?: unknown): Promise<Response> =>
    fetch(`${test.gateway.url}/internal/${rest}`, {
      method,
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const kept = async (org: string, rest = ''): Promise<PromptPage> =>
    PromptPage.parse(await (await internal('GET', `prompts/${org}${rest}`)).json());

  it('has what was asked and answered, with secrets masked, of organizations whose policy says so, page by page, until they say otherwise', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    const [key, others] = [
      await test.key(id),
      await test.key(other, { metadata: { org_id: 'org_2', conversation_id: other } }),
    ];
    test.model.use(() => ({ text: 'the answer has ghp_0123456789abcdefghijklmnop' }));
    const question = ask('the question has sk-proj-0123456789abcdefghij');
    const no = { headers: { 'x-slipway-cache': 'no' } };
    await (await test.post(PATH, question, key, no)).text();
    expect(await kept('org_1')).toEqual({ data: [], next: null });
    expect((await internal('PUT', 'prompt-policies', { policies: [{ org: 'org_1', days: 7 }] })).status).toBe(204);
    const [entry] = await until('the entry', async () => {
      for (const one of [key, others]) await (await test.post(PATH, question, one, no)).text();
      const { data } = await kept('org_1');
      return data.length > 0 ? data : null;
    });
    expect(entry).toMatchObject({
      conversationId: id,
      model: MODEL,
      outcome: 'ok',
      asked: expect.stringContaining('the question has'),
    });
    expect(entry?.answered).toContain('the answer has');
    expect(JSON.stringify(entry)).not.toMatch(/0123456789abcdefghij/);
    await until('a second page', async () => {
      await Promise.all(Array.from({ length: 10 }, async () => (await test.post(PATH, question, key, no)).text()));
      return (await kept('org_1')).next;
    });
    const first = await kept('org_1', `?conversation=${id}`);
    const second = await kept('org_1', `?conversation=${id}&after=${encodeURIComponent(first.next ?? '')}`);
    expect([first.data.length, second.data.length > 0]).toEqual([20, true]);
    expect(second.data.some((one) => first.data.some((each) => each.id === one.id))).toBe(false);
    expect((await kept('org_2')).data).toEqual([]);
    await internal('PUT', 'prompt-policies', { policies: [] });
    expect(await kept('org_1')).toEqual({ data: [], next: null });
    for (const [method, rest] of [
      ['GET', 'prompt-log'],
      ['GET', 'prompts/org_1'],
      ['PUT', 'prompt-policies'],
    ] as const)
      expect(
        (await fetch(`${test.gateway.url}/internal/${rest}`, { method, headers: { authorization: `Bearer ${key}` } }))
          .status,
      ).toBe(401);
  });
});

describe('a stream that reaches what its key may spend', () => {
  it('ends with its counts and budget.exhausted, and costs no more than that', async () => {
    const id = randomUUID();
    const key = await test.key(id, { max_budget: 0.02 });
    test.model.use(() => ({ text: 'x'.repeat(40_000), usage: null, chunkLength: 100 }));
    const asked = { ...ask('long', true), stream_options: { include_usage: true } };
    const response = await test.post(PATH, asked, key, { headers: { 'x-slipway-cache': 'no' } });
    let text = '';
    try {
      const decoder = new TextDecoder();
      for await (const part of response.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true });
      throw new Error('it ended as if it were whole');
    } catch (error) {
      expect((error as Error).message).not.toContain('whole');
    }
    expect(text).toMatch(/"usage":\{.*\}\s+data: \{"error":\{.*"budget\.exhausted"/);
    const [row] = await test.ledger(id, 1);
    expect(row).toMatchObject({ status: 'failed', error_code: 'budget.exhausted', usage_source: 'estimated' });
    expect(Number(row?.cost_usd)).toBeGreaterThan(0.019);
    expect(Number(row?.cost_usd)).toBeLessThanOrEqual(0.02);
    const refused = await test.post(PATH, ask('more', true), key);
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      402,
      'agent.budget-limit',
    ]);
  });
});

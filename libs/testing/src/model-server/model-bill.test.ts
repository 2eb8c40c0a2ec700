import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../until.js';
import { type BilledTurn, type BillingServer, startBillingServer } from './model-bill.js';

const PRICE = { input: 1, cachedInput: 0.1, cacheWrite: 2, output: 10, serviceTiers: { priority: 2 }, search: 0.01 };
let turn: BilledTurn = {};
let server: BillingServer;
beforeAll(async () => {
  server = await startBillingServer({ models: { m: PRICE }, script: () => turn });
});
afterAll(() => server.close());

/** What one call is billed. USD, and the tokens of its output. */
async function billOf(
  of: BilledTurn,
  body: object,
  path = '/chat/completions',
): Promise<{ usd: number; output: number; text: string }> {
  turn = of;
  const from = server.bill().calls.length;
  const response = await fetch(server.url + path, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [], ...body }),
  });
  const text = await response.text().catch(() => '');
  const calls = server.bill().calls.slice(from);
  return {
    usd: calls.reduce((sum, { usd }) => sum + usd, 0),
    output: calls.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    text,
  };
}

const work = { promptTokens: 100_000, charactersPerToken: 1 };

describe('the provider that bills', () => {
  it('bills hidden reasoning first and cuts the answer at the limit that it was sent', async () => {
    const of = { text: 'abcdefghij', work: { ...work, hiddenTokens: 95 } };
    expect((await billOf(of, {})).output).toBe(105);
    const cut = await billOf(of, { max_tokens: 100 });
    expect(cut.output).toBe(100);
    expect(cut.text).toContain('"abcde"');
    expect(cut.usd).toBeCloseTo(0.1 + 0.001, 10);
  });

  it('multiplies by the choices and the service tier, and adds fees for searches that were offered', async () => {
    const of = { text: 'abcd', work: { ...work, searches: 3 } };
    const plain = await billOf(of, { n: 2 });
    expect(plain.output).toBe(8);
    expect((await billOf(of, { n: 2, service_tier: 'priority' })).usd).toBeCloseTo(2 * plain.usd, 10);
    expect((await billOf(of, { n: 2, tools: [{ type: 'web_search' }] })).usd).toBeCloseTo(plain.usd + 0.03, 10);
  });

  it('bills an aborted call and a 5xx after its work, and no refusal', async () => {
    expect((await billOf({ fault: 'status', status: 500, work }, { max_tokens: 10 })).usd).toBeCloseTo(
      0.1 + 0.0001,
      10,
    );
    expect((await billOf({ fault: 'status', status: 429, work }, {})).usd).toBe(0);
    turn = { fault: 'hang-mid-stream', work };
    const before = server.bill().usd;
    const controller = new AbortController();
    const asked = server.requests.length;
    const call = fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', stream: true, max_tokens: 50 }),
      signal: controller.signal,
    });
    await call;
    controller.abort();
    await until('the abort', () => server.requests[asked]?.abortedAt !== null);
    expect(server.bill().usd - before).toBeCloseTo(0.1 + 0.0005, 10);
  });

  it('reports what it bills where it answers whole', async () => {
    const of = { text: 'abcd', work: { ...work, cachedTokens: 10, writtenTokens: 20, hiddenTokens: 6 } };
    const { usd, text } = await billOf(of, { max_tokens: 100 }, '/messages');
    expect(JSON.parse(text).usage).toEqual({
      input_tokens: 99_970,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 20,
      output_tokens: 10,
    });
    expect(usd).toBeCloseTo((99_970 + 10 * 0.1 + 20 * 2 + 10 * 10) / 1e6, 10);
  });
});

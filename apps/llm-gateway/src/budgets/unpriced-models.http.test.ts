import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { MASTER_KEY, startTestGateway, type TestGateway } from '../test-gateway.js';

const MODEL = 'a-model-that-nobody-prices';
let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway({ LLM_MODEL: MODEL });
  test.model.use(() => ({ text: 'ok' }));
});
afterAll(() => test?.close());

const keyOf = (org: string, more: object = {}): Promise<string> =>
  test.key(randomUUID(), { metadata: { org_id: org, conversation_id: randomUUID() }, ...more });
async function ask(key: string): Promise<{ status: number; code?: string; message?: string }> {
  const response = await test.post(
    '/v1/chat/completions',
    { model: MODEL, messages: [{ role: 'user', content: 'x' }] },
    key,
  );
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, ...error };
}
const limits = (org: string, more: object): Promise<Response> =>
  fetch(`${test.gateway.url}/internal/limits/${org}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resetDay: 1, orgLimitUsd: null, memberLimitUsd: null, overrides: [], ...more }),
  });

describe('a model without a price', () => {
  it('is refused where a budget in USD would not see it, by its name, and nothing is sent', async () => {
    const key = await keyOf('org_a', { max_budget: 5 });
    const asked = test.model.requests.length;
    const refusal = await ask(key);
    expect(refusal).toMatchObject({ status: 402, code: 'budget.unpriced', message: expect.stringContaining(MODEL) });
    expect(refusal.message).toContain('An admin can allow such models on the Budgets page');
    expect(test.model.requests.length).toBe(asked);
  });

  it('is answered where no budget holds, and is in the ledger without a cost', async () => {
    const id = randomUUID();
    const key = await test.key(id);
    expect((await ask(key)).status).toBe(200);
    expect((await test.ledger(id, 1))[0]).toMatchObject({ cost_known: false, status: 'ok' });
    // Its parameters are unknown: no limit is written.
    expect(test.model.requests.at(-1)?.body['max_tokens']).toBeUndefined();
  });

  it('is answered in an organization whose admin allows it, from within seconds on, and refused again when that is taken back', async () => {
    const key = await keyOf('org_b');
    await limits('org_b', { orgLimitUsd: '10' });
    await until('the limit holds', async () => (await ask(key)).code === 'budget.unpriced');
    await limits('org_b', { orgLimitUsd: '10', allowUnpriced: true });
    await until('it is allowed', async () => (await ask(key)).status === 200);
    expect((await ask(await keyOf('org_c', { max_budget: 1 }))).code).toBe('budget.unpriced');
    await limits('org_b', { orgLimitUsd: '10' });
    await until('it is refused again', async () => (await ask(key)).code === 'budget.unpriced');
  });
});

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CHARGE_PASS_HEADER } from '@slipway/contracts/agent';
import { CHARGE_PASS_CALLS } from '@slipway/contracts/models';
import { limitNeeded } from '@slipway/domain';
import { until } from '@slipway/testing';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
  test.model.use(() => ({
    text: 'ok',
    usage: { prompt_tokens: 100_000, completion_tokens: 1, total_tokens: 100_001 },
  }));
});
afterAll(() => test.close());

const put = (conversation: string, body: object, key = MASTER_KEY): Promise<Response> =>
  fetch(`${test.gateway.url}/internal/spending/${conversation}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ org: 'org_1', user: 'usr_ada', userLabel: 'Ada', limitUsd: null, ...body }),
  });
/** Reserves 0.25 USD for the prompt alone, and comes to that. */
const ask = async (key: string): Promise<{ status: number; message?: string; code?: string }> => {
  const response = await test.post(
    '/v1/chat/completions',
    { model: MODEL, max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(96_000) }] },
    key,
  );
  const { error } = (await response.json()) as { error?: { message: string; code: string } };
  return { status: response.status, ...(error === undefined ? {} : { message: error.message, code: error.code }) };
};
const usersOf = async (conversation: string): Promise<string[]> =>
  (
    await test.owner.query<{ user_id: string }>(
      'SELECT user_id FROM gateway.ledger WHERE conversation_id = $1 ORDER BY id',
      [conversation],
    )
  ).rows.map(({ user_id }) => user_id);

describe('PUT /internal/spending/{conversation}', () => {
  it('401: with any key but the master key, the conversation’s own included', async () => {
    const conversation = randomUUID();
    expect((await put(conversation, { user: 'usr_victim' }, await test.key(conversation))).status).toBe(401);
  });

  it('keeps the limit of a conversation against any process with its key, and against a second key of it', async () => {
    const conversation = randomUUID();
    const key = await test.key(conversation, {
      metadata: { org_id: 'org_1', conversation_id: conversation, user_id: 'usr_ada' },
    });
    expect((await put(conversation, { limitUsd: '1' })).status).toBe(204);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(key)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(4);
    const again = await test.key(conversation, {
      grace_seconds: 60,
      metadata: { org_id: 'org_1', conversation_id: conversation, user_id: 'usr_ada' },
    });
    await until('its budget is used up', async () => (await ask(again)).status === 402);
    expect(await ask(key)).toMatchObject({
      code: 'agent.budget-limit',
      message: expect.stringMatching(/the limit of this conversation of 1 USD/i),
    });
    const { rows } = await test.owner.query<{ sum: string }>(
      'SELECT sum(cost_usd) FROM gateway.ledger WHERE conversation_id = $1',
      [conversation],
    );
    expect(Number(rows[0]?.sum)).toBeLessThanOrEqual(1);
    await put(conversation, { limitUsd: '2' });
    await until('it goes on', async () => (await ask(key)).status === 200);
    await put(conversation, {});
    for (let index = 0; index < 8; index += 1)
      await until('nothing limits it', async () => (await ask(key)).status === 200);
  });

  it('lowers the answer of a first call to what the limit pays for, and names a limit that is enough where that is too little', async () => {
    const conversation = randomUUID();
    const key = await test.key(conversation, {
      metadata: { org_id: 'org_1', conversation_id: conversation, user_id: 'usr_ada' },
    });
    const say = (text: string): Promise<Response> =>
      test.post(
        '/v1/chat/completions',
        { model: MODEL, max_tokens: 16_000, messages: [{ role: 'user', content: text }] },
        key,
      );
    // 16,000 tokens would be 0.16 USD.
    await put(conversation, { limitUsd: '0.05' });
    expect((await say('x')).status).toBe(200);
    const sent = test.model.requests.at(-1)?.body['max_tokens'];
    expect(sent).toBeGreaterThan(256);
    expect(sent).toBeLessThan(4_000);

    const other = randomUUID();
    const again = await test.key(other, { metadata: { org_id: 'org_1', conversation_id: other, user_id: 'usr_ada' } });
    await put(other, { limitUsd: '0.1' });
    const refused = await ask(again);
    expect(refused).toMatchObject({
      status: 402,
      code: 'agent.budget-limit',
      message: expect.stringMatching(/^0.1 USD is left of the limit of this conversation/),
    });
    const enough = limitNeeded(refused.message ?? '');
    await put(other, { limitUsd: String(enough) });
    await until('the limit that it named is enough', async () => (await ask(again)).status === 200);
  });

  it('charges the calls that follow to the user that it names, and to that user’s budget', async () => {
    const conversation = randomUUID();
    await test.owner.query(
      `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ('org_1', 'member', 'usr_poor', 0.0001, 'month')`,
    );
    const key = await test.key(conversation, {
      metadata: { org_id: 'org_1', conversation_id: conversation, user_id: 'usr_ada' },
    });
    expect((await ask(key)).status).toBe(200);
    await put(conversation, { user: 'usr_poor', userLabel: 'Paul' });
    await until('Paul’s budget is asked', async () => (await ask(key)).status === 402);
    expect((await ask(key)).message).toMatch(
      /^0.0001 USD is left of the budget of Paul of 0.0001 USD, and the next call may cost 0.25\d* USD .* A limit of 0.26 USD or more lets it go on\. It begins again on 1 /,
    );
    await put(conversation, { user: 'usr_bob', userLabel: 'Bob' });
    await until('Bob pays', async () => (await ask(key)).status === 200);
    await until('all is in the ledger', async () => (await usersOf(conversation)).includes('usr_bob'));
    expect(new Set(await usersOf(conversation))).toEqual(new Set(['usr_ada', 'usr_bob']));
  });
});

describe('a call that comes with a pass (POST /internal/charge-passes)', () => {
  const give = (conversation: string, pass: string, body: object = {}, master = MASTER_KEY): Promise<Response> =>
    fetch(`${test.gateway.url}/internal/charge-passes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${master}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        org: 'org_1',
        conversation,
        user: 'usr_bob',
        userLabel: 'Bob',
        sha256: createHash('sha256').update(pass).digest('hex'),
        ...body,
      }),
    });
  const askWith = async (key: string, pass: string): Promise<string> => {
    const body = { model: MODEL, max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(96_000) }] };
    const response = await test.post('/v1/chat/completions', body, key, { headers: { [CHARGE_PASS_HEADER]: pass } });
    const { error } = (await response.json()) as { error?: { code: string } };
    return [response.status, error?.code].filter(Boolean).join(' ');
  };
  const keyOfAda = (conversation: string): Promise<string> =>
    test.key(conversation, { metadata: { org_id: 'org_1', conversation_id: conversation, user_id: 'usr_ada' } });

  it('counts in the ledger for who gave the pass, and the calls beside it for who pays for the task', async () => {
    const conversation = randomUUID();
    const key = await keyOfAda(conversation);
    expect((await give(conversation, 'a')).status).toBe(204);
    expect([(await ask(key)).status, await askWith(key, 'a'), (await ask(key)).status]).toEqual([200, '200', 200]);
    await until('all is in the ledger', async () => (await usersOf(conversation)).length === 3);
    expect((await usersOf(conversation)).sort()).toEqual(['usr_ada', 'usr_ada', 'usr_bob']);
  });

  it('is limited by the budget of who gave the pass, and not by that of who pays for the task', async () => {
    const conversation = randomUUID();
    await test.owner.query(
      `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ('org_1', 'member', 'usr_broke', 0.0001, 'month')`,
    );
    const stop = `INSERT INTO gateway.budget_stop (org_id, user_id, reason, until) VALUES ('org_1', 'usr_stopped', 'Stopped.', now() + interval '1 day')`;
    await test.owner.query(stop);
    const key = await keyOfAda(conversation);
    await give(conversation, 'poor', { user: 'usr_broke' });
    await give(conversation, 'stopped', { user: 'usr_stopped' });
    expect([await askWith(key, 'poor'), await askWith(key, 'stopped')]).toEqual([
      '402 budget.exhausted',
      '402 budget.exhausted',
    ]);
    const other = randomUUID();
    const ofStopped = await test.key(other, {
      metadata: { org_id: 'org_1', conversation_id: other, user_id: 'usr_stopped' },
    });
    await give(other, 'for-stopped');
    expect([(await ask(ofStopped)).status, await askWith(ofStopped, 'for-stopped')]).toEqual([402, '200']);
  });

  it('adversary: a sandbox spends no more with a pass than its calls, also at once, with no pass of another conversation, with none that is over, and gives itself none', async () => {
    const [conversation, other] = [randomUUID(), randomUUID()];
    const key = await keyOfAda(conversation);
    await give(conversation, 'once');
    await give(conversation, 'once');
    const answers = await Promise.all(Array.from({ length: 3 * CHARGE_PASS_CALLS }, () => askWith(key, 'once')));
    expect(answers.filter((each) => each === '200').length).toBe(CHARGE_PASS_CALLS);
    expect(new Set(answers)).toEqual(new Set(['200', '401 auth.missing']));
    expect(await askWith(await keyOfAda(other), 'once')).toBe('401 auth.missing');
    await give(conversation, 'over');
    await test.owner.query(`UPDATE gateway.charge_pass SET expires_at = now() - interval '1 s' WHERE calls_left = $1`, [
      CHARGE_PASS_CALLS,
    ]);
    expect(await askWith(key, 'over')).toBe('401 auth.missing');
    expect((await give(conversation, 'mine', {}, key)).status).toBe(401);
    expect(await askWith(key, 'mine')).toBe('401 auth.missing');
    await until('all is in the ledger', async () => (await usersOf(conversation)).length === CHARGE_PASS_CALLS);
  });
});

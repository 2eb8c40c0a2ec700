import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LedgerCalls } from '@slipway/contracts/conversations';
import { LedgerPage } from '@slipway/contracts/models';
import { stopwatch, until } from '@slipway/testing';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

const whole = { model: MODEL, messages: [{ role: 'user', content: 'hi' }] };
const INSERT = `INSERT INTO gateway.ledger (id, org_id, conversation_id, key_id, user_id, request_id, trace_id, model, prompt_tokens, completion_tokens, cached_tokens, usage_source, cost_usd,
  cost_known, status, streamed, started_at, latency_ms) VALUES (gen_random_uuid(), 'org_1', $1, 'k', 'usr_1', $2, 't', 'm', 3, 2, 1, 'reported', 0.5, true, 'ok', false, now(), 1)`;

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
  test.model.use(() => ({ text: 'ok' }));
});
afterAll(() => test.close());

const page = async (after: number, limit = 100): Promise<LedgerPage> =>
  LedgerPage.parse(
    await (
      await fetch(`${test.gateway.url}/internal/ledger?after=${after}&limit=${limit}`, {
        headers: { authorization: `Bearer ${MASTER_KEY}` },
      })
    ).json(),
  );
const tell = (org: string, stops: unknown, key = MASTER_KEY): Promise<Response> =>
  fetch(`${test.gateway.url}/internal/budget-stops/${org}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stops }),
  });
const ask = async (key: string): Promise<{ status: number; code?: string; message?: string }> => {
  const response = await test.post('/v1/chat/completions', whole, key);
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, ...error };
};

describe('GET /internal/calls/:org/:conversation', () => {
  const calls = (org: string, conversation: string, query = '', key = MASTER_KEY): Promise<Response> =>
    fetch(`${test.gateway.url}/internal/calls/${org}/${conversation}${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });

  it('200: gives the calls of one conversation of one organization that began in a time, and says when there are more', async () => {
    const conversation = randomUUID();
    for (const request of ['one', 'two', 'three']) await test.owner.query(INSERT, [conversation, request]);
    await test.owner.query(INSERT, [randomUUID(), 'of another']);
    const read = async (...asked: [org: string, conversation: string, query?: string]): Promise<LedgerCalls> =>
      LedgerCalls.parse(await (await calls(...asked)).json());
    const all = await read('org_1', conversation);
    expect(all).toMatchObject({
      more: false,
      calls: [{ model: 'm', cost: '0.5000000000', prompt: 3, completion: 2, status: 'ok' }, {}, {}],
    });
    expect(await read('org_1', conversation, '?limit=2')).toEqual({ calls: all.calls.slice(0, 2), more: true });
    const second = all.calls[1]?.at ?? '';
    expect((await read('org_1', conversation, `?from=${second}`)).calls.every(({ at }) => at >= second)).toBe(true);
    expect((await read('org_1', conversation, `?to=${all.calls[0]?.at}`)).calls).toEqual([]);
    expect((await read('org_2', conversation)).calls).toEqual([]);
  });

  it('200: names the provider behind a deployment that it has, and none for one that is gone', async () => {
    const conversation = randomUUID();
    for (const request of ['one', 'two']) await test.owner.query(INSERT, [conversation, request]);
    const [{ id: known } = { id: '' }] = (
      (await (
        await fetch(`${test.gateway.url}/internal/deployments`, { headers: { authorization: `Bearer ${MASTER_KEY}` } })
      ).json()) as {
        data: { id: string }[];
      }
    ).data;
    await test.owner.query(
      `UPDATE gateway.ledger SET deployment = CASE request_id WHEN 'one' THEN $2 ELSE 'gone/1' END WHERE conversation_id = $1`,
      [conversation, known],
    );
    const answer = LedgerCalls.parse(await (await calls('org_1', conversation)).json());
    expect(answer.calls.map(({ provider }) => provider)).toEqual(['openai', null]);
  });

  it('401: without the master key; 400: for what is no conversation', async () => {
    expect((await calls('org_1', randomUUID(), '', 'sk-other')).status).toBe(401);
    expect((await calls('org_1', 'none')).status).toBe(400);
  });
});

describe('GET /internal/ledger', () => {
  it('200: gives every row once, page by page, also one whose commit comes after that of a later one', async () => {
    const conversation = randomUUID();
    const from = (await page(0, 1_000)).upto;
    const [slow, reader] = [await test.owner.connect(), page(from)];
    try {
      expect((await reader).rows).toEqual([]);
      await slow.query('BEGIN');
      await slow.query(INSERT, [conversation, 'slow']);
      await test.owner.query(INSERT, [conversation, 'quick']);
      const waits = page(from, 1);
      await until('the reader waits for who writes', async () => {
        const { rows } = await slow.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND mode = 'ExclusiveLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        );
        return (rows[0]?.n ?? 0) > 0;
      });
      await slow.query('COMMIT');
      const first = await waits;
      expect(first).toMatchObject({
        more: true,
        rows: [{ conversation, user: 'usr_1', cost: '0.5000000000', priced: true, failed: false }],
      });
      const second = await page(first.upto, 1);
      expect(second.rows).toHaveLength(1);
      expect(second.more).toBe(false);
      expect((await page(second.upto)).rows).toEqual([]);
      expect((await page(second.upto)).upto).toBe(second.upto);
    } finally {
      slow.release();
    }
  });

  it('401: without the master key', async () => {
    const key = await test.key(randomUUID());
    for (const token of ['', key]) {
      expect(
        (await fetch(`${test.gateway.url}/internal/ledger`, { headers: { authorization: `Bearer ${token}` } })).status,
      ).toBe(401);
      expect((await tell('org_1', [], token)).status).toBe(401);
    }
  });

  it('400: a position that is none', async () => {
    expect(
      (
        await fetch(`${test.gateway.url}/internal/ledger?after=-1`, {
          headers: { authorization: `Bearer ${MASTER_KEY}` },
        })
      ).status,
    ).toBe(400);
  });
});

describe('a budget that is spent', () => {
  const later = (): string => new Date(Date.now() + 3_600_000).toISOString();

  it('refuses the calls of its user only, within five seconds, with its own sentence; and lets them through again when it is raised', async () => {
    const keyOf = (user: string): Promise<string> =>
      test.key(randomUUID(), { metadata: { org_id: 'org_b', conversation_id: randomUUID(), user_id: user } });
    const [spent, other] = [await keyOf('usr_spent'), await keyOf('usr_other')];
    expect([(await ask(spent)).status, (await ask(other)).status]).toEqual([200, 200]);
    expect((await tell('org_b', [{ user: 'usr_spent', reason: 'Ada has spent it.', until: later() }])).status).toBe(
      204,
    );
    const passed = stopwatch();
    const refusal = await until('it is refused', async () => {
      const answer = await ask(spent);
      return answer.status === 402 ? answer : null;
    });
    expect(passed()).toBeLessThan(5_000);
    expect(refusal).toMatchObject({ code: 'budget.exhausted', message: 'Ada has spent it.' });
    expect((await ask(other)).status).toBe(200);
    await tell('org_b', []);
    await until('it goes on', async () => (await ask(spent)).status === 200);
  });

  it('of the organization refuses all users in it, and is over by itself at its time', async () => {
    const key = await test.key(randomUUID(), {
      metadata: { org_id: 'org_c', conversation_id: randomUUID(), user_id: 'usr_1' },
    });
    await tell('org_c', [{ user: null, reason: 'All is spent.', until: later() }]);
    expect(await ask(key)).toMatchObject({ status: 402, message: 'All is spent.' });
    await tell('org_c', [{ user: null, reason: 'All is spent.', until: new Date(Date.now() - 1_000).toISOString() }]);
    expect(
      (await ask(await test.key(randomUUID(), { metadata: { org_id: 'org_c', conversation_id: randomUUID() } })))
        .status,
    ).toBe(200);
  });
});

describe('PUT /internal/limits/{org}', () => {
  const limit = (org: string, limits: object, key = MASTER_KEY): Promise<Response> =>
    fetch(`${test.gateway.url}/internal/limits/${org}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ resetDay: 1, orgLimitUsd: null, memberLimitUsd: null, overrides: [], ...limits }),
    });
  const keyOf = (org: string, user: string, label: string): Promise<string> =>
    test.key(randomUUID(), {
      metadata: { org_id: org, conversation_id: randomUUID(), user_id: user, user_label: label },
    });

  it('holds each to their limit call by call, in the sentence that people read, and others not; and lets them through again when it is raised', async () => {
    const [ada, bob] = [await keyOf('org_l', 'usr_ada', 'Ada'), await keyOf('org_l', 'usr_bob', 'Bob')];
    expect([(await ask(ada)).status, (await ask(bob)).status]).toEqual([200, 200]);
    expect(
      (await limit('org_l', { memberLimitUsd: '0.0001', overrides: [{ user: 'usr_bob', limitUsd: null }] })).status,
    ).toBe(204);
    // Until the first call is booked, a refusal speaks of what the next one may cost.
    const refusal = await until('it holds', async () => {
      const answer = await ask(ada);
      return answer.status === 402 && answer.message?.includes('used up') ? answer : null;
    });
    expect(refusal).toMatchObject({
      code: 'budget.exhausted',
      message: expect.stringMatching(/^The budget of Ada of 0.0001 USD a month is used up\. It begins again on 1 /),
    });
    expect((await ask(bob)).status).toBe(200);
    await limit('org_l', { memberLimitUsd: '100', orgLimitUsd: '100' });
    await until('it goes on', async () => (await ask(ada)).status === 200);
    await limit('org_l', { orgLimitUsd: '0' });
    await until('nothing is nothing for everybody', async () => (await ask(bob)).status === 402);
  });

  it('400 and 401: limits that are none, and without the master key', async () => {
    for (const wrong of [{ orgLimitUsd: '-1' }, { resetDay: 0 }, { overrides: [{ user: '', limitUsd: null }] }])
      expect((await limit('org_l', wrong)).status).toBe(400);
    expect((await limit('org_l', {}, await test.key(randomUUID()))).status).toBe(401);
  });
});

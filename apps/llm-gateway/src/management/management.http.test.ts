import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { MASTER_KEY, MODEL, startTestGateway, type TestGateway } from '../test-gateway.js';

const whole = { model: MODEL, messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 };

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
  test.model.use(() => ({ text: 'ok', usage: { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 } }));
});
afterAll(() => test.close());

// biome-ignore lint/suspicious/noExplicitAny: answers are read by their fields
type Json = any;
const call = async (path: string, body?: unknown, key = MASTER_KEY): Promise<{ status: number; body: Json }> => {
  const response = await fetch(test.gateway.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
};
const ask = async (key: string): Promise<number> => (await call('/v1/chat/completions', whole, key)).status;

describe('/key', () => {
  it('generate, info, update, block and delete speak as LiteLLM does, and a key sees itself and nothing else', async () => {
    const made = await call('/key/generate', {
      key_alias: 'ci',
      team_id: 'org_k',
      user_id: 'usr_k',
      models: [MODEL],
      duration: '30d',
      max_budget: 5,
      budget_duration: '30d',
      rpm_limit: 100,
      metadata: { a: 1 },
    });
    expect(made.status).toBe(200);
    const { key, token } = made.body as { key: string; token: string };
    expect(made.body).toMatchObject({
      key_alias: 'ci',
      team_id: 'org_k',
      user_id: 'usr_k',
      models: [MODEL],
      max_budget: 5,
      budget_duration: '30d',
      rpm_limit: 100,
      tpm_limit: null,
      spend: 0,
      blocked: false,
    });
    expect(Date.parse(made.body.expires) - Date.now()).toBeGreaterThan(29 * 86_400_000);
    expect(await ask(key)).toBe(200);
    const own = await call('/key/info', undefined, key);
    expect(own.body).toMatchObject({ key: token, info: { key_alias: 'ci', metadata: { a: 1 } } });
    const other = (await call('/key/generate', {})).body as { key: string; expires: null; team_id: string };
    expect(other).toMatchObject({ expires: null, team_id: 'default' });
    expect((await call(`/key/info?key=${key}`, undefined, other.key)).status).toBe(404);
    for (const name of [key, token, made.body.key_id])
      expect((await call(`/key/info?key=${name}`)).body.info.key_alias).toBe('ci');
    const updated = await call('/key/update', { key, max_budget: null, tpm_limit: 1_000_000, models: [] });
    expect(updated.body).toMatchObject({
      key,
      max_budget: null,
      rpm_limit: 100,
      tpm_limit: 1_000_000,
      models: [],
      key_alias: 'ci',
    });
    expect((await call('/key/block', { key: token })).body.blocked).toBe(true);
    expect(await ask(key)).toBe(401);
    await call('/key/unblock', { key });
    expect(await ask(key)).toBe(200);
    expect((await call('/key/delete', { keys: [key], key_aliases: [] })).body).toEqual({ deleted_keys: [key] });
    expect(await ask(key)).toBe(401);
    for (const missing of [
      call(`/key/info?key=${key}`),
      call('/key/update', { key }),
      call('/key/delete', { keys: [key] }),
    ])
      expect((await missing).status).toBe(404);
  });

  it('401: without the master key', async () => {
    const { key } = (await call('/key/generate', {})).body as { key: string };
    for (const path of [
      '/key/update',
      '/key/delete',
      '/team/new',
      '/team/update',
      '/team/delete',
      '/user/new',
      '/user/delete',
      '/team/member_update',
    ])
      expect([path, (await call(path, {}, key)).status]).toEqual([path, 401]);
    for (const path of [
      '/team/list',
      '/user/list',
      '/spend/logs',
      '/global/spend',
      '/global/spend/teams',
      '/team/info?team_id=default',
    ])
      expect([path, (await call(path, undefined, key)).status]).toEqual([path, 401]);
  });
});

describe('/team and /user', () => {
  it('a team is an organization with a budget, its members have theirs, and what a call cost is in all of them', async () => {
    const team_id = `org_${randomUUID()}`;
    expect(
      (
        await call('/team/new', {
          team_id,
          team_alias: 'A',
          max_budget: 100,
          budget_duration: '1mo',
          team_member_budget: 20,
        })
      ).body,
    ).toMatchObject({
      team_id,
      team_alias: 'A',
      max_budget: 100,
      budget_duration: '1mo',
      team_member_budget: 20,
      spend: 0,
    });
    expect((await call('/team/new', { team_id })).status).toBe(400);
    const user = await call('/user/new', {
      user_id: 'usr_m',
      team_id,
      user_email: 'm@example.test',
      max_budget: 1,
      budget_duration: '1d',
    });
    expect(user.body).toMatchObject({ user_id: 'usr_m', team_id, max_budget: 1, budget_duration: '1d' });
    expect(await ask(user.body.key)).toBe(200);
    const spend = (1_000 * 2.5 + 10 * 10) / 1e6;
    await until(
      'it is in the ledger',
      async () => (await call(`/global/spend?team_id=${team_id}`)).body.spend === spend,
    );
    const info = (await call(`/team/info?team_id=${team_id}`)).body;
    expect(info).toMatchObject({
      team_id,
      team_info: { spend },
      team_memberships: [{ user_id: 'usr_m', spend }],
      keys: [{ user_id: 'usr_m', spend }],
    });
    expect((await call('/user/info?user_id=usr_m')).body).toMatchObject({
      user_id: 'usr_m',
      user_info: { spend, user_email: 'm@example.test' },
      teams: [{ team_id }],
      keys: [{ team_id }],
    });
    expect((await call('/user/update', { user_id: 'usr_m', max_budget: 2 })).body.data).toMatchObject({
      max_budget: 2,
      budget_duration: '1d',
      user_email: 'm@example.test',
    });
    await call('/team/member_update', { team_id, user_id: 'usr_n', max_budget_in_team: 3 });
    expect((await call(`/user/list?team_id=${team_id}&page_size=1&page=2`)).body).toMatchObject({
      total: 2,
      total_pages: 2,
      users: [{ user_id: 'usr_n', max_budget: 3 }],
    });
    expect((await call('/team/list')).body.map((each: { team_id: string }) => each.team_id)).toContain(team_id);
    expect((await call('/team/update', { team_id, blocked: true })).body.data).toMatchObject({
      blocked: true,
      max_budget: 100,
    });
    await until('its keys are blocked', async () => (await ask(user.body.key)) === 401);
    await call('/team/update', { team_id, blocked: false, models: ['other'] });
    await until('its keys are for its models', async () => (await ask(user.body.key)) === 403);
    expect((await call('/user/delete', { user_ids: ['usr_n', 'usr_m'] })).body).toBe(2);
    expect((await call('/team/delete', { team_ids: [team_id] })).body).toEqual({ deleted_teams: [team_id] });
    for (const missing of [
      call(`/team/info?team_id=${team_id}`),
      call('/team/update', { team_id }),
      call('/user/info?user_id=usr_m'),
      call('/team/delete', { team_ids: [team_id] }),
    ])
      expect((await missing).status).toBe(404);
  });

  it('a budget that is spent refuses with a sentence that says whose it is; raised, it lets in at once', async () => {
    const team_id = `org_${randomUUID()}`;
    await call('/team/new', { team_id, max_budget: 0.004, budget_duration: '1mo' });
    const { key } = (await call('/key/generate', { team_id })).body as { key: string };
    const refusal = await until('it is spent', async () => {
      const answer = await call('/v1/chat/completions', whole, key);
      return answer.status === 402 ? answer : null;
    });
    expect(refusal.body.error).toMatchObject({
      code: 'budget.exhausted',
      message: expect.stringMatching(
        /^0.004 USD is left of the organization's budget of 0.004 USD, and .* A limit of 0.02 USD or more lets it go on\. It begins again on 1 /,
      ),
    });
    await call('/team/update', { team_id, max_budget: 5 });
    await until('it goes on', async () => (await ask(key)) === 200);
  });
});

describe('/spend', () => {
  it('logs is a view of the ledger by call and by day, with all its dimensions, and every sum is the same to the last place', async () => {
    const team_id = `org_${randomUUID()}`;
    const conversation_id = randomUUID();
    const { key, token } = (
      await call('/key/generate', {
        team_id,
        metadata: {
          conversation_id,
          user_id: 'usr_s',
          repository: 'https://git.test/a',
          pull_request: 7,
          integration: 'github',
        },
      })
    ).body;
    for (let each = 0; each < 3; each += 1) expect(await ask(key)).toBe(200);
    const logs = await until('all are in the ledger', async () => {
      const rows = (await call(`/spend/logs?team_id=${team_id}`)).body as Json[];
      return rows.length === 3 ? rows : null;
    });
    expect(logs[0]).toMatchObject({
      api_key: token,
      team_id,
      user: 'usr_s',
      session_id: conversation_id,
      model: MODEL,
      prompt_tokens: 1_000,
      completion_tokens: 10,
      total_tokens: 1_010,
      spend: 0.0026,
      status: 'success',
      cache_hit: 'False',
      metadata: {
        purpose: 'agent',
        repository: 'https://git.test/a',
        pull_request: '7',
        integration: 'github',
        attempts: 1,
        usage_source: 'reported',
      },
    });
    const today = new Date().toISOString().slice(0, 10);
    const byDay = (await call(`/spend/logs?team_id=${team_id}&start_date=${today}&end_date=${today}`)).body;
    expect(byDay).toEqual([{ startTime: today, spend: 0.0078, users: { usr_s: 0.0078 }, models: { [MODEL]: 0.0078 } }]);
    expect(
      (await call(`/spend/logs?api_key=${key}&start_date=${today}&end_date=${today}&summarize=false`)).body,
    ).toHaveLength(3);
    expect((await call(`/global/spend?team_id=${team_id}`)).body.spend).toBe(0.0078);
    for (const [path, row] of [
      ['teams', { team_id }],
      ['keys', {}],
      ['models', { model: MODEL }],
      ['users', { user: 'usr_s' }],
    ] as const)
      expect((await call(`/global/spend/${path}?team_id=${team_id}`)).body).toEqual([
        expect.objectContaining({ ...row, total_spend: 0.0078 }),
      ]);
    expect((await call(`/key/info?key=${key}`)).body.info.spend).toBe(0.0078);
    expect((await call(`/spend/logs?request_id=${logs[1].request_id}`)).body).toEqual([logs[1]]);
    expect((await call('/spend/logs?api_key=nothing')).status).toBe(404);
  });
});

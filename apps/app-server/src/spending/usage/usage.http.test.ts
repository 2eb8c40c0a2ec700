import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Problem } from '@slipway/contracts/errors';
import { Usage } from '@slipway/contracts/spending';
import type { z } from 'zod';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

describe('GET /orgs/{org}/usage', () => {
  let app: ConversationApp;
  let ada: User;
  let other: User;
  const path = (query = '', user = ada): string => `/api/v1/orgs/${user.orgId}/usage${query}`;
  const spend = (
    orgId: string,
    day: string,
    user: string,
    repository: string,
    model: string,
    cost: string,
  ): Promise<unknown> =>
    app.owner.query(`INSERT INTO app.usage_day VALUES ($1, $2, $3, $4, $5, 'Seen', 2, 1, 100, 40, 10, $6, 1)`, [
      orgId,
      day,
      user,
      repository,
      model,
      cost,
    ]);
  beforeAll(async () => {
    app = await ConversationApp.start();
    [ada, other] = [await app.user('Ada'), await app.user('=Eve')];
    await spend(ada.orgId, '2026-11-01', ada.userId, 'https://git.test/a', 'm', '0.1000000001');
    await spend(ada.orgId, '2026-11-02', ada.userId, '', 'm', '1');
    await spend(ada.orgId, '2026-11-02', 'usr_gone', '=HYPERLINK("http://evil")', 'n', '2');
    await spend(other.orgId, '2026-11-02', other.userId, '', 'm', '99');
  });
  afterAll(() => app?.close());

  it('200: sums of the span by each dimension and by two, exactly, of this organization alone', async () => {
    const get = async (query: string): Promise<z.infer<typeof Usage>> => {
      const { status, body } = await app.http(ada, 'GET', path(`?from=2026-11-01&to=2026-11-30&${query}`));
      expect(status).toBe(200);
      return Usage.parse(body);
    };
    const byUser = await get('groupBy=user');
    expect(byUser.data.map(({ user, costUsd, requests }) => [user?.label, costUsd, requests])).toEqual([
      ['Seen', '2', 2],
      ['Ada', '1.1000000001', 4],
    ]);
    expect(byUser.total).toEqual({
      requests: 6,
      failed: 3,
      promptTokens: 300,
      cachedTokens: 120,
      completionTokens: 30,
      costUsd: '3.1000000001',
      unpriced: 3,
    });
    expect((await get('groupBy=day,model')).data.map(({ day, model, costUsd }) => [day, model, costUsd])).toEqual([
      ['2026-11-01', 'm', '0.1000000001'],
      ['2026-11-02', 'n', '2'],
      ['2026-11-02', 'm', '1'],
    ]);
    expect(
      (await get(`groupBy=repository&user=${ada.userId}`)).data.map(({ repository, costUsd }) => [repository, costUsd]),
    ).toEqual([
      [null, '1'],
      ['https://git.test/a', '0.1000000001'],
    ]);
    expect((await get('groupBy=day&repository=')).total.costUsd).toBe('1');
    expect((await get('model=n')).total.costUsd).toBe('2');
  });

  it('200: text/csv is a table, and no name in it is a formula', async () => {
    const { headers, body } = await app.http<string>(
      ada,
      'GET',
      path('?from=2026-11-01&to=2026-11-30&groupBy=repository,user'),
      undefined,
      {
        accept: 'text/csv',
      },
    );
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toContain('usage-2026-11-01-2026-11-30.csv');
    expect(body.split('\r\n')).toEqual([
      'repository,user_id,user,requests,failed,prompt_tokens,cached_tokens,completion_tokens,cost_usd,unpriced_requests',
      `"'=HYPERLINK(""http://evil"")",usr_gone,Seen,2,1,100,40,10,2,1`,
      `,${ada.userId},Ada,2,1,100,40,10,1,1`,
      `https://git.test/a,${ada.userId},Ada,2,1,100,40,10,0.1000000001,1`,
      '',
    ]);
  });

  it('200: by conversation, with its title while it is there, and with what was counted before', async () => {
    const { id } = await app.conversation(ada);
    await app.owner.query(`UPDATE app.conversation SET title = 'Fix the build' WHERE id = $1`, [id]);
    const rows = [
      [id, '3'],
      ['01890000-0000-7000-8000-0000000000ff', '2'],
      ['00000000-0000-0000-0000-000000000000', '1'],
    ];
    for (const [conversation, cost] of rows)
      await app.owner.query(
        `INSERT INTO app.usage_conversation VALUES ($1, '2026-10-01', $2, '', 'm', $3, '', 2, 1, 100, 40, 10, $4, 1)`,
        [ada.orgId, ada.userId, conversation, cost],
      );
    const { body } = await app.http(ada, 'GET', path('?from=2026-10-01&to=2026-10-02&groupBy=conversation'));
    expect(Usage.parse(body).data.map(({ conversation, costUsd }) => [conversation, costUsd])).toEqual([
      [{ id, title: 'Fix the build' }, '3'],
      [{ id: rows[1]?.[0], title: null }, '2'],
      [null, '1'],
    ]);
    expect(Usage.parse(body).total.costUsd).toBe('6');
  });

  it('400: a span that is too long or turned round, and a dimension that there is not', async () => {
    for (const query of [
      '?from=2025-01-01&to=2026-11-30',
      '?from=2026-11-02&to=2026-11-01',
      '?from=2024-01-01',
      '?groupBy=org',
      '?groupBy=day,day',
      '?user=%00',
    ])
      expect([query, (await app.http(ada, 'GET', path(query))).status]).toEqual([query, 400]);
  });

  it('404: another organization’s, as one that there is not', async () => {
    const [foreign, missing] = [
      await app.http<Problem>(ada, 'GET', path('', other)),
      await app.http<Problem>(ada, 'GET', '/api/v1/orgs/org_none/usage'),
    ];
    expect([foreign.status, { ...foreign.body, requestId: '' }]).toEqual([404, { ...missing.body, requestId: '' }]);
  });

  it('403: who may only see conversations', async () => {
    await app.owner.query(`UPDATE app.membership SET role = 'member' WHERE user_id = $1`, [other.userId]);
    const late = await app.user();
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      ada.orgId,
      late.userId,
    ]);
    expect((await app.http(late, 'GET', path())).status).toBe(403);
    expect((await app.http(null, 'GET', path())).status).toBe(401);
  });
});

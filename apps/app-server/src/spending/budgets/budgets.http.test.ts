import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Problem } from '@slipway/contracts/errors';
import { BudgetOverride, BudgetPreview, Budgets } from '@slipway/contracts/spending';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';

describe('budgets of an organization', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    app = await ConversationApp.start();
  });
  afterAll(() => app?.close());

  const path = (user: User, rest = ''): string => `/api/v1/orgs/${user.orgId}/budgets${rest}`;
  const today = (): string => new Date().toISOString().slice(0, 10);
  const spend = async (orgId: string, user: string, cost: number): Promise<void> => {
    await app.owner.query(
      `INSERT INTO app.usage_day VALUES ($1, $2, $3, '', 'm', '', 1, 0, 0, 0, 0, $4, 0) ON CONFLICT (org_id, day, user_id, repository, model) DO UPDATE SET cost_usd = app.usage_day.cost_usd + excluded.cost_usd`,
      [orgId, today(), user, cost],
    );
    await app.pool.query('SELECT app.settle_budget($1, now())', [orgId]);
  };
  const change = (
    user: User,
    body: unknown,
    headers: Record<string, string> = {},
  ): ReturnType<ConversationApp['http']> => app.http(user, 'PATCH', path(user), body, headers);
  const member = async (user: User, name: string): Promise<User> => {
    const joined = await app.user(name);
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      user.orgId,
      joined.userId,
    ]);
    return { ...joined, orgId: user.orgId };
  };

  it('200: nothing is limited by default; a change keeps what it does not name, and is in the audit with what was before', async () => {
    const ada = await app.user('Ada');
    expect(Budgets.parse((await app.http(ada, 'GET', path(ada))).body)).toMatchObject({
      version: 0,
      orgLimitUsd: null,
      memberLimitUsd: null,
      org: { blocked: false },
    });
    await change(ada, { orgLimitUsd: '100', resetDay: 5 });
    const answer = await change(ada, { memberLimitUsd: '12.50' });
    expect(Budgets.parse(answer.body)).toMatchObject({
      orgLimitUsd: '100',
      memberLimitUsd: '12.5',
      resetDay: 5,
      version: 2,
    });
    expect(answer.headers.get('etag')).toBe('"2"');
    await change(ada, { memberLimitUsd: '12.5' });
    const { rows } = await app.owner.query(
      'SELECT action, before, after FROM app.audit_entry WHERE org_id = $1 AND action LIKE $2 ORDER BY created_at',
      [ada.orgId, 'budget.%'],
    );
    expect(rows).toEqual([
      {
        action: 'budget.update',
        before: { org_limit_usd: null, reset_day: 1 },
        after: { org_limit_usd: '100', reset_day: 5 },
      },
      { action: 'budget.update', before: { member_limit_usd: null }, after: { member_limit_usd: '12.5' } },
    ]);
  });

  it('412: a change of an outdated version', async () => {
    const ada = await app.user('Ada');
    await change(ada, { orgLimitUsd: '1' });
    expect((await change(ada, { orgLimitUsd: '2' }, { 'if-match': '"0"' })).status).toBe(412);
    expect((await change(ada, { orgLimitUsd: '2' }, { 'if-match': '"1"' })).status).toBe(200);
  });

  it('402: a spent budget refuses a new conversation and a new message, says whose it is and when it begins again, and lets both through when it is raised', async () => {
    const ada = await app.user('Ada');
    const bob = await member(ada, 'Bob');
    const { id } = await app.conversation(bob);
    await change(ada, { memberLimitUsd: '10' });
    await spend(ada.orgId, bob.userId, 9.99);
    const create = (user: User): ReturnType<ConversationApp['http']> =>
      app.http(user, 'POST', app.path(user), { prompt: 'go' });
    const send = (user: User): ReturnType<ConversationApp['http']> =>
      app.http(user, 'POST', app.path(user, id, '/messages'), { text: 'more' });
    expect((await create(bob)).status).toBe(201);
    await spend(ada.orgId, bob.userId, 0.01);
    const refused = await create(bob);
    expect(refused.status).toBe(402);
    expect(refused.body).toMatchObject({ code: 'budget.exhausted', retry: 'never' });
    expect((refused.body as unknown as Problem).detail).toMatch(
      /^The budget of Bob of 10 USD a month is used up\. It begins again on 1 \w+ \d{4} at 00:00 UTC;/,
    );
    // A message counts for its author, in whose conversation soever.
    expect([(await send(bob)).status, (await send(ada)).status, (await create(ada)).status]).toEqual([402, 202, 201]);
    const hers = await app.conversation(ada);
    expect((await app.http(bob, 'POST', app.path(bob, hers.id, '/messages'), { text: 'work for me' })).status).toBe(
      402,
    );
    expect((await app.http(ada, 'PUT', path(ada, `/overrides/${bob.userId}`), { limitUsd: '20' })).status).toBe(200);
    expect([(await send(bob)).status, (await create(bob)).status]).toEqual([202, 201]);
    await change(ada, { orgLimitUsd: '5' });
    expect(((await create(ada)).body as unknown as Problem).detail).toContain("The organization's budget of 5 USD");
    await change(ada, { enabled: false });
    expect((await create(ada)).status).toBe(201);
  });

  it('an override is a limit of one’s own or none, until it is deleted; only members have one', async () => {
    const ada = await app.user('Ada');
    const bob = await member(ada, 'Bob');
    const stranger = await app.user();
    const at = (user: string): string => path(ada, `/overrides/${user}`);
    await change(ada, { memberLimitUsd: '1' });
    await spend(ada.orgId, bob.userId, 2);
    const blocked = async (): Promise<boolean | undefined> =>
      Budgets.parse((await app.http(ada, 'GET', path(ada))).body).people.find(({ user }) => user.id === bob.userId)
        ?.blocked;
    expect(await blocked()).toBe(true);
    expect(BudgetOverride.parse((await app.http(ada, 'PUT', at(bob.userId), { limitUsd: null })).body)).toMatchObject({
      limitUsd: null,
      user: { label: 'Bob' },
      changedBy: 'Ada',
    });
    expect(await blocked()).toBe(false);
    expect((await app.http(ada, 'DELETE', at(bob.userId))).status).toBe(204);
    expect((await app.http(ada, 'DELETE', at(bob.userId))).status).toBe(204);
    expect(await blocked()).toBe(true);
    for (const user of [stranger.userId, 'usr_none', '%00']) {
      expect([user, (await app.http(ada, 'PUT', at(user), { limitUsd: '1' })).status]).toEqual([user, 404]);
      expect([user, (await app.http(ada, 'DELETE', at(user))).status]).toEqual([user, 404]);
    }
  });

  it('a preview says whom a change would block or free, and changes nothing', async () => {
    const ada = await app.user('Ada');
    const [bob, cy] = [await member(ada, 'Bob'), await member(ada, 'Cy')];
    await change(ada, { memberLimitUsd: '10' });
    await spend(ada.orgId, bob.userId, 6);
    await spend(ada.orgId, cy.userId, 11);
    const preview = async (query: string): Promise<BudgetPreview> =>
      BudgetPreview.parse((await app.http(ada, 'GET', path(ada, `/preview?${query}`))).body);
    const names = (people: BudgetPreview['newlyFree']): string[] => people.map(({ label }) => label);
    const lower = await preview('memberLimitUsd=5');
    expect([lower.blockedPeople, names(lower.newlyBlocked), names(lower.newlyFree)]).toEqual([2, ['Bob'], []]);
    const none = await preview('memberLimitUsd=none');
    expect([none.blockedPeople, names(none.newlyBlocked), names(none.newlyFree)]).toEqual([0, [], ['Cy']]);
    const one = await preview(`user=${cy.userId}&userLimitUsd=20`);
    expect([one.blockedPeople, names(one.newlyFree)]).toEqual([0, ['Cy']]);
    const all = await preview('orgLimitUsd=17');
    expect([all.orgBlocked, all.blockedPeople]).toEqual([true, 3]);
    const { rows } = await app.owner.query('SELECT user_id FROM app.budget_stop WHERE org_id = $1', [ada.orgId]);
    expect(rows).toEqual([{ user_id: cy.userId }]);
  });

  it('notices are listed newest first, page by page', async () => {
    const ada = await app.user('Ada');
    await change(ada, { orgLimitUsd: '10' });
    await spend(ada.orgId, ada.userId, 8.5);
    await spend(ada.orgId, ada.userId, 8.5);
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const { body }: Answer<{ data: Array<{ threshold: number; user: null }>; page: { nextCursor: string | null } }> =
        await app.http(ada, 'GET', path(ada, `/notices?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`));
      seen.push(...body.data.map(({ threshold, user }) => [threshold, user]));
      cursor = body.page.nextCursor;
    } while (cursor !== null);
    expect(seen.slice(0, 2).sort()).toEqual([
      [100, null],
      [90, null],
    ]);
    expect(seen.slice(2).sort()).toEqual([
      [50, null],
      [80, null],
    ]);
  });

  it('a notice names who has left or never had an account as they were last called, and a limit of nothing makes one notice', async () => {
    const ada = await app.user('Ada');
    const bob = await member(ada, 'Bob');
    await app.owner.query(
      `INSERT INTO app.usage_day VALUES ($1, now() AT TIME ZONE 'UTC', 'usr_gone', '', 'm', 'Grace, who has left', 1, 0, 0, 0, 0, 2, 0)`,
      [ada.orgId],
    );
    await app.http(ada, 'PUT', path(ada, `/overrides/${bob.userId}`), { limitUsd: '0' });
    await change(ada, { memberLimitUsd: '2' });
    const { body } = await app.http<{ data: Array<{ threshold: number; user: { id: string; label: string } }> }>(
      ada,
      'GET',
      path(ada, '/notices'),
    );
    expect(body.data.map(({ threshold, user }) => [user.label, threshold]).sort()).toEqual([
      ['Bob', 100],
      ['Grace, who has left', 100],
      ['Grace, who has left', 50],
      ['Grace, who has left', 80],
      ['Grace, who has left', 90],
    ]);
  });

  it('400: amounts and days that are none', async () => {
    const ada = await app.user('Ada');
    for (const body of [
      { orgLimitUsd: '1,5' },
      { orgLimitUsd: '-1' },
      { orgLimitUsd: 5 },
      { orgLimitUsd: '1e3' },
      { resetDay: 29 },
      { resetDay: 0 },
      { more: 1 },
    ])
      expect([body, (await change(ada, body)).status]).toEqual([body, 400]);
  });

  it('403 and 404: who may not change them, and whose they are not', async () => {
    const ada = await app.user('Ada');
    const bob = await member(ada, 'Bob');
    expect((await change(bob, { orgLimitUsd: '1' })).status).toBe(403);
    expect((await app.http(bob, 'GET', path(bob))).status).toBe(403);
    const other = await app.user();
    expect((await app.http(other, 'PATCH', path(ada), { orgLimitUsd: '1' })).status).toBe(404);
  });
});

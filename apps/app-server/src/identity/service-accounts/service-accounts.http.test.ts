import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CreatedApiKey, type ServiceAccount } from '@slipway/contracts/identity';
import { PERMISSIONS, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { stopwatch, until } from '@slipway/testing';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

describe('service accounts', () => {
  let app: ConversationApp;
  let owner: User;
  let member: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    [owner, member] = await Promise.all([app.user('Ada'), app.user('Grace')]);
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      owner.orgId,
      member.userId,
    ]);
  });
  afterAll(() => app?.close());

  const path = (rest = ''): string => `/api/v1/orgs/${owner.orgId}/service-accounts${rest}`;
  const create = async (
    name: string,
    role: string,
    who = owner,
    headers = {},
  ): Promise<Answer<ServiceAccount & { code?: string }>> => app.http(who, 'POST', path(), { name, role }, headers);
  const keyOf = (serviceAccountId: string, scopes: readonly (typeof PERMISSIONS)[number][]): Promise<CreatedApiKey> =>
    makeKey(app, owner, scopes, { serviceAccountId });
  const use = (token: string, method: string, rest: string, body?: unknown): Promise<Answer> =>
    withKey(app.url, token, method, `/api/v1/orgs/${owner.orgId}${rest}`, body);

  it('does what its role and its key allow, in its own name, after whoever made it has left', async () => {
    const account = (await create('nightly build', 'member')).body;
    expect(account).toMatchObject({
      name: 'nightly build',
      role: 'member',
      liveKeys: 0,
      createdBy: { id: owner.userId, label: 'Ada' },
    });
    const key = await keyOf(account.id, ['conversation:create', 'conversation:read', 'org:read']);
    expect(key.owner).toEqual({ kind: 'service-account', id: account.id, label: 'nightly build' });
    const made = await use(key.token, 'POST', '/conversations', { prompt: 'hello' });
    expect([made.status, made.body['createdBy']]).toEqual([201, { id: account.id, label: 'nightly build' }]);
    expect((await withKey(app.url, key.token, 'GET', '/api/v1/me')).body).toMatchObject({
      id: account.id,
      name: 'nightly build',
      email: null,
      auth: { owner: 'service-account' },
    });
    const { rows } = await app.owner.query(
      'SELECT actor_kind, actor_id, via_key FROM app.audit_entry WHERE target = $1',
      [made.body['id']],
    );
    expect(rows).toEqual([{ actor_kind: 'service-account', actor_id: account.id, via_key: key.id }]);
    expect((await app.http<ServiceAccount>(owner, 'GET', path(`/${account.id}`))).body).toMatchObject({ liveKeys: 1 });
  });

  it('a lower role, and the end of the account, are effective on its keys within two seconds', async () => {
    const { id } = (await create('robot', 'member')).body;
    const { token, id: keyId } = await keyOf(id, ['conversation:create', 'conversation:read']);
    const statusOf = async (method: string): Promise<number> =>
      (await use(token, method, '/conversations', method === 'POST' ? { prompt: 'x' } : undefined)).status;
    expect([await statusOf('POST'), await statusOf('GET')]).toEqual([201, 200]);
    expect((await app.http(owner, 'PATCH', path(`/${id}`), { role: 'viewer' })).body).toMatchObject({
      role: 'viewer',
      name: 'robot',
    });
    const passed = stopwatch();
    await until('the role to be effective', async () => (await statusOf('POST')) === 403, 10_000);
    expect(passed()).toBeLessThan(4_000);
    expect((await app.http(owner, 'DELETE', path(`/${id}`))).status).toBe(204);
    expect(await statusOf('GET')).toBe(401);
    expect((await app.http(owner, 'GET', path(`/${id}`))).status).toBe(404);
    expect((await app.http(owner, 'GET', `/api/v1/orgs/${owner.orgId}/api-keys/${keyId}`)).body).toMatchObject({
      state: 'revoked',
      permissions: [],
    });
    const { rows } = await app.owner.query('SELECT action FROM app.audit_entry WHERE target = $1 ORDER BY created_at', [
      id,
    ]);
    expect(rows).toEqual([
      { action: 'service-account.create' },
      { action: 'service-account.change' },
      { action: 'service-account.delete' },
    ]);
  });

  it('is never an owner, nor more than who makes it, be that a key', async () => {
    expect((await create('king', 'owner')).status).toBe(400);
    const scopes = [...ROLE_PERMISSIONS.member, 'service-account:read', 'service-account:write'] as const;
    const { token } = await makeKey(app, owner, scopes);
    expect((await use(token, 'POST', '/service-accounts', { name: 'a', role: 'admin' })).body).toMatchObject({
      code: 'service-account.role-too-high',
    });
    const made = await use(token, 'POST', '/service-accounts', { name: 'b', role: 'member' });
    expect(made.status).toBe(201);
    expect((await use(token, 'PATCH', `/service-accounts/${made.body['id']}`, { role: 'admin' })).body).toMatchObject({
      code: 'service-account.role-too-high',
    });
    const admin = (await create('c', 'admin')).body;
    expect(
      (await use(token, 'POST', '/api-keys', { name: 'x', scopes: ['org:write'], serviceAccountId: admin.id })).body,
    ).toMatchObject({
      code: 'api-key.scope-too-wide',
    });
    const viewer = (await create('d', 'viewer')).body;
    expect(
      (
        await app.http(owner, 'POST', `/api/v1/orgs/${owner.orgId}/api-keys`, {
          name: 'x',
          scopes: ['org:write'],
          serviceAccountId: viewer.id,
        })
      ).body,
    ).toMatchObject({
      code: 'api-key.scope-too-wide',
      detail: 'The scopes have permissions that the service account does not have: org:write.',
    });
  });

  it('is for admins; a request that is repeated with its key makes one', async () => {
    expect((await create('x', 'member', member)).body).toMatchObject({ code: 'permission.denied' });
    expect((await app.http(member, 'GET', path())).status).toBe(403);
    const twice = await Promise.all(
      [1, 2].map(() => create('once', 'viewer', owner, { 'idempotency-key': 'the same' })),
    );
    const again = await create('once', 'viewer', owner, { 'idempotency-key': 'the same' });
    expect([again.status, twice.some(({ body }) => body.id === again.body.id)]).toEqual([201, true]);
    const { body } = await app.http<{ data: ServiceAccount[] }>(owner, 'GET', path('?limit=200'));
    expect(body.data.filter(({ name }) => name === 'once').length).toBe(1);
  });
});

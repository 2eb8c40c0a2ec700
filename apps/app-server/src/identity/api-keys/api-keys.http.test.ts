import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiKey, type CreatedApiKey, MAX_LIVE_API_KEYS } from '@slipway/contracts/identity';
import { PERMISSIONS, type Permission } from '@slipway/contracts/organizations';
import { stopwatch, until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { type Answer, ConversationApp, insisted, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

const DAY_MS = 86_400_000;
/**
 * Within this a change must be effective everywhere. Milliseconds; what is promised is two seconds, and one is for a
 * busy machine.
 */
const EFFECTIVE_MS = 3_000;

describe('API keys', () => {
  let app: ConversationApp;
  let owner: User;
  let other: User;
  /** A member of the owner's organization. */
  let member: User;
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
    [owner, other, member] = await Promise.all([app.user('Ada'), app.user('Mallory'), app.user('Grace')]);
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      owner.orgId,
      member.userId,
    ]);
  });
  afterAll(() => app?.close());

  const keys = (rest = '', orgId = owner.orgId): string => `/api/v1/orgs/${orgId}/api-keys${rest}`;
  const conversations = (): string => `/api/v1/orgs/${owner.orgId}/conversations`;
  const use = <T = Record<string, unknown>>(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    replica = 0,
  ): Promise<Answer<T>> => withKey<T>((app.replicas[replica] as { url: string }).url, token, method, path, body);
  const setRole = (user: User, role: string): Promise<unknown> =>
    app.owner.query('UPDATE app.membership SET role = $3 WHERE org_id = $1 AND user_id = $2', [
      owner.orgId,
      user.userId,
      role,
    ]);

  describe('201', () => {
    it('the token is in the answer of its making, works until it is over, and is nowhere else: not in a list, not in the tables', async () => {
      const made = await makeKey(app, owner, ['conversation:read', 'org:read']);
      expect(made).toMatchObject({
        name: 'a program',
        state: 'active',
        owner: { kind: 'user', id: owner.userId, label: 'Ada' },
        lastUsed: null,
        replacedBy: null,
      });
      expect(made.token.startsWith(made.prefix)).toBe(true);
      expect(Math.round((Date.parse(made.expiresAt) - Date.now()) / DAY_MS)).toBe(90);
      expect((await use(made.token, 'GET', conversations())).status).toBe(200);
      const { rows } = await app.owner.query<{ row: string }>(
        'SELECT to_jsonb(k)::text AS row FROM app.api_key k UNION ALL SELECT to_jsonb(e)::text FROM app.audit_entry e',
      );
      const secret = made.token.slice(made.prefix.length, -6);
      const seen = JSON.stringify([
        rows,
        await app.http(owner, 'GET', keys()),
        await app.http(owner, 'GET', keys(`/${made.id}`)),
      ]);
      expect(seen).toContain(made.id);
      expect(seen).not.toContain(secret);
    });

    it('says who it is, and that it reaches one organization with no more than its scopes', async () => {
      const { token, id } = await makeKey(app, member, ['org:read', 'conversation:read'], {}, owner.orgId);
      const me = await use(token, 'GET', '/api/v1/me');
      expect(me.body).toMatchObject({
        id: member.userId,
        auth: { kind: 'api-key', keyId: id, orgId: owner.orgId, owner: 'user' },
        orgs: [{ id: owner.orgId, role: 'member', permissions: ['conversation:read', 'org:read'] }],
      });
      expect((await use(token, 'GET', '/api/keys/current')).body).toEqual({
        auth_type: 'api_key',
        user_id: member.userId,
        org_id: owner.orgId,
        bound_org_id: owner.orgId,
      });
      expect((await use(token, 'GET', `/api/v1/orgs/${owner.orgId}`)).body).toMatchObject({
        permissions: ['conversation:read', 'org:read'],
      });
    });

    it('what it does is its owner’s, by the key', async () => {
      const { token, id } = await makeKey(app, member, ['conversation:create'], {}, owner.orgId);
      const made = await use<{ id: string; createdBy: { id: string } }>(token, 'POST', conversations(), {
        prompt: 'hello',
      });
      expect([made.status, made.body.createdBy.id]).toEqual([201, member.userId]);
      const { rows } = await app.owner.query(
        'SELECT actor_kind, actor_id, via_key FROM app.audit_entry WHERE target = $1',
        [made.body.id],
      );
      expect(rows).toEqual([{ actor_kind: 'user', actor_id: member.userId, via_key: id }]);
    });

    it('when it was last used, where and for what, is known seconds later', async () => {
      const { token, id } = await makeKey(app, owner, ['conversation:read']);
      await use(token, 'GET', conversations());
      await until(
        'the use to be noted',
        async () => (await app.http<ApiKey>(owner, 'GET', keys(`/${id}`))).body.lastUsed !== null,
        15_000,
      );
      const { lastUsed } = (await app.http<ApiKey>(owner, 'GET', keys(`/${id}`))).body;
      expect(lastUsed).toMatchObject({ address: '127.0.0.1', route: 'GET /api/v1/orgs/{org}/conversations' });
    });

    it('rotated, the new one works and the old one goes on for the overlap alone; both are in the audit', async () => {
      const old = await makeKey(app, owner, ['conversation:read']);
      const rotated = await app.http<CreatedApiKey>(owner, 'POST', keys(`/${old.id}/rotate`), {
        overlapSeconds: 3_600,
      });
      expect([rotated.status, rotated.body.name, rotated.body.scopes]).toEqual([201, old.name, old.scopes]);
      const before = (await app.http<ApiKey>(owner, 'GET', keys(`/${old.id}`))).body;
      expect(before).toMatchObject({ state: 'active', replacedBy: rotated.body.id });
      expect(Math.round((Date.parse(before.expiresAt) - Date.now()) / 60_000)).toBe(60);
      expect([
        (await use(old.token, 'GET', conversations())).status,
        (await use(rotated.body.token, 'GET', conversations())).status,
      ]).toEqual([200, 200]);
      expect((await app.http(owner, 'POST', keys(`/${old.id}/rotate`), {})).body).toMatchObject({
        code: 'api-key.not-live',
      });
      const last = await app.http<CreatedApiKey>(owner, 'POST', keys(`/${rotated.body.id}/rotate`), {
        overlapSeconds: 0,
      });
      expect((await use(rotated.body.token, 'GET', conversations())).status).toBe(401);
      expect((await use(last.body.token, 'GET', conversations())).status).toBe(200);
      const { rows } = await app.owner.query(
        "SELECT action, target FROM app.audit_entry WHERE target = ANY ($1) AND action LIKE 'api-key.%' ORDER BY created_at",
        [[old.id, rotated.body.id, last.body.id]],
      );
      expect(rows).toEqual([
        { action: 'api-key.create', target: old.id },
        { action: 'api-key.rotate', target: rotated.body.id },
        { action: 'api-key.rotate', target: last.body.id },
      ]);
    });
  });

  describe('200', () => {
    it('the list is one’s own, those of all users for who may manage them, page after page', async () => {
      await makeKey(app, member, ['org:read'], { name: 'theirs' }, owner.orgId);
      const list = async (
        user: User,
        query: string,
      ): Promise<Answer<{ data: ApiKey[]; page: { nextCursor: string | null } }>> => app.http(user, 'GET', keys(query));
      const mine = await list(owner, '?limit=200');
      expect(new Set(mine.body.data.map(({ owner: { id } }) => id))).toEqual(new Set([owner.userId]));
      const all = await list(owner, '?all=true&limit=200');
      expect(new Set(all.body.data.map(({ owner: { id } }) => id))).toEqual(new Set([owner.userId, member.userId]));
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Answer<{ data: ApiKey[]; page: { nextCursor: string | null } }> = await list(
          owner,
          `?all=true&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        ids.push(...page.body.data.map(({ id }) => id));
        cursor = page.body.page.nextCursor;
      }
      expect(ids).toEqual(all.body.data.map(({ id }) => id));
      expect((await list(owner, '?state=revoked')).body.data.every(({ state }) => state === 'revoked')).toBe(true);
      expect((await list(member, '?all=true')).body).toMatchObject({ code: 'permission.denied' });
      expect((await list(owner, '?cursor=x')).body).toMatchObject({ code: 'request.invalid' });
    });

    it('a cookie beside a key is as if it were not there: neither its rights nor its protection against other sites count', async () => {
      const { token, id } = await makeKey(app, owner, ['api-key:read', 'api-key:write']);
      const both = { cookie: owner.cookie, origin: 'https://evil.example' };
      expect((await withKey(app.url, token, 'PATCH', keys(`/${id}`), { name: 'renamed' }, both)).body).toMatchObject({
        name: 'renamed',
      });
      expect((await withKey(app.url, token, 'GET', conversations(), undefined, both)).status).toBe(403);
      expect(
        (await withKey(app.url, 'slp_dev_nothing', 'GET', conversations(), undefined, { cookie: owner.cookie })).status,
      ).toBe(401);
      expect(
        (await app.http(owner, 'GET', conversations(), undefined, { authorization: 'Basic cHJveHk6cHJveHk=' })).status,
      ).toBe(200);
    });
  });

  describe('400', () => {
    it('an end that is over or too far away, a beginning behind the end, scopes that there are not', async () => {
      const at = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
      for (const [more, path] of [
        [{ expiresAt: at(-1) }, 'expiresAt'],
        [{ expiresAt: at(367) }, 'expiresAt'],
        [{ notBefore: at(300) }, 'notBefore'],
        [{ notBefore: at(3), expiresAt: at(2) }, 'notBefore'],
        [{ scopes: [] }, 'scopes'],
        [{ scopes: ['org:read', 'org:read'] }, 'scopes'],
      ] as const) {
        const { status, body } = await app.http(owner, 'POST', keys(), { name: 'x', scopes: ['org:read'], ...more });
        expect([status, body]).toMatchObject([400, { code: 'request.invalid', fields: [{ path }] }]);
      }
      expect((await app.http(owner, 'POST', keys(), { name: 'x', scopes: ['everything:all'] })).status).toBe(400);
      expect(
        (await app.http(owner, 'POST', keys(), { name: 'x', scopes: ['org:read'], owner: 'usr_other' })).status,
      ).toBe(400);
    });
  });

  describe('401', () => {
    it('what is cut off, mistyped, made up, not yet valid, expired or of a deactivated user opens nothing, and says no more than that', async () => {
      const { token } = await makeKey(app, owner, ['conversation:read']);
      const later = await makeKey(app, owner, ['conversation:read'], {
        notBefore: new Date(Date.now() + 60_000).toISOString(),
      });
      const over = await makeKey(app, owner, ['conversation:read']);
      await app.owner.query("UPDATE app.api_key SET expires_at = now() - interval '1 second' WHERE id = $1", [over.id]);
      expect(later.state).toBe('pending');
      const answers = [];
      for (const each of [
        '',
        'x',
        token.slice(0, -1),
        `${token}x`,
        token.replace(/_[^_]{5}/, '_00000'),
        later.token,
        over.token,
      ]) {
        const { status, body } = await use(each, 'GET', conversations());
        answers.push([status, body['code'], body['detail']]);
      }
      expect(new Set(answers.map((each) => JSON.stringify(each)))).toEqual(
        new Set(['[401,"auth.missing","The API key is not valid, or it is over."]']),
      );
    });

    it('a revocation is effective on every replica within two seconds, on open sockets and streams too', async () => {
      const { token, id } = await makeKey(app, owner, ['conversation:read', 'conversation:create']);
      const conversation = (await use<{ id: string }>(token, 'POST', conversations(), { prompt: 'hello' })).body.id;
      const elsewhere = (app.replicas[1] as { url: string }).url;
      const socket: Socket = io(elsewhere, { auth: { token }, transports: ['websocket'], reconnection: false });
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('connect_error', reject));
      expect(
        await socket.emitWithAck('subscribe', { orgId: owner.orgId, conversationId: conversation, afterSeq: 0 }),
      ).toMatchObject({ ok: true });
      const stream = await fetch(`${elsewhere}${conversations()}/${conversation}/events`, {
        headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      });
      expect(stream.status).toBe(200);
      let streaming = true;
      const streamed = stream.text().finally(() => {
        streaming = false;
      });
      expect((await use(token, 'GET', conversations(), undefined, 1)).status).toBe(200);

      expect((await app.http(owner, 'DELETE', keys(`/${id}`))).status).toBe(204);
      const passed = stopwatch();
      expect((await use(token, 'GET', conversations())).status).toBe(401);
      await until(
        'everything open with it to end',
        async () =>
          !socket.connected && !streaming && (await use(token, 'GET', conversations(), undefined, 1)).status === 401,
        10_000,
      );
      expect(passed()).toBeLessThan(EFFECTIVE_MS);
      await streamed;
      const again: Socket = io(elsewhere, { auth: { token }, transports: ['websocket'], reconnection: false });
      const refusal = await new Promise<Error>((resolve) => again.once('connect_error', resolve));
      expect(refusal).toMatchObject({ data: { code: 'auth.missing' } });
      expect((await app.http<ApiKey>(owner, 'GET', keys(`/${id}`))).body).toMatchObject({
        state: 'revoked',
        permissions: [],
      });
      expect((await app.http(owner, 'DELETE', keys(`/${id}`))).status).toBe(204);
    });

    it('without its owner a key is nothing: a member who leaves or is deactivated takes theirs along within two seconds', async () => {
      const leaver = await app.user('Leaver');
      await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
        owner.orgId,
        leaver.userId,
      ]);
      const { token } = await makeKey(app, leaver, ['conversation:read'], {}, owner.orgId);
      const opens = async (): Promise<boolean> =>
        (await use(token, 'GET', conversations(), undefined, 1)).status === 200;
      const within = async (statement: string, expected: boolean): Promise<void> => {
        await app.owner.query(statement, [leaver.userId]);
        const passed = stopwatch();
        await until('the change to be effective', async () => (await opens()) === expected, 10_000);
        expect(passed()).toBeLessThan(EFFECTIVE_MS);
      };
      expect(await opens()).toBe(true);
      await within('UPDATE app.user_account SET deactivated_at = now() WHERE id = $1', false);
      await within('UPDATE app.user_account SET deactivated_at = NULL WHERE id = $1', true);
      await within(
        `UPDATE app.org SET deletes_at = now() + interval '1 day' WHERE id = '${owner.orgId}' AND $1 <> ''`,
        false,
      );
      await within(`UPDATE app.org SET deletes_at = NULL WHERE id = '${owner.orgId}' AND $1 <> ''`, true);
      await within(`DELETE FROM app.membership WHERE user_id = $1 AND org_id = '${owner.orgId}'`, false);
    });
  });

  describe('403', () => {
    it('a member who becomes a viewer has a key that reads and changes nothing, within two seconds', async () => {
      const { token } = await makeKey(app, member, ['conversation:read', 'conversation:create'], {}, owner.orgId);
      const create = async (): Promise<number> =>
        (await use(token, 'POST', conversations(), { prompt: 'x' }, 1)).status;
      expect(await create()).toBe(201);
      await setRole(member, 'viewer');
      const passed = stopwatch();
      await until('the key to be refused', async () => (await create()) === 403, 10_000);
      expect(passed()).toBeLessThan(EFFECTIVE_MS);
      expect((await use(token, 'GET', conversations(), undefined, 1)).status).toBe(200);
      await setRole(member, 'member');
    });

    it('operations on one’s own account refuse keys, however wide its scopes', async () => {
      const { token } = await makeKey(app, owner, PERMISSIONS);
      for (const [method, path] of [
        ['POST', '/api/v1/orgs'],
        ['GET', '/api/v1/device/BCDF-GHJK'],
        ['GET', '/api/v1/me/sessions'],
      ] as const) {
        expect((await use(token, method, path, method === 'POST' ? { name: 'x' } : undefined)).body).toMatchObject({
          status: 403,
          code: 'auth.session-needed',
        });
      }
    });

    it('no user can rotate another user’s key: the token would act as that user', async () => {
      const theirs = await makeKey(app, member, ['org:read'], {}, owner.orgId);
      expect((await app.http(owner, 'POST', keys(`/${theirs.id}/rotate`), {})).body).toMatchObject({
        code: 'permission.denied',
      });
      expect((await app.http(owner, 'DELETE', keys(`/${theirs.id}`))).status).toBe(204);
    });
  });

  describe('404', () => {
    it('another organization is not there for a key, byte for byte as one that is missing, and neither are others’ keys', async () => {
      const { token } = await makeKey(app, owner, PERMISSIONS);
      const plain = ({ status, body }: Answer): unknown => [status, { ...body, requestId: '' }];
      const foreign = plain(await use(token, 'GET', `/api/v1/orgs/${other.orgId}/conversations`));
      expect(foreign).toEqual(plain(await use(token, 'GET', '/api/v1/orgs/org_missing/conversations')));
      expect(foreign).toMatchObject([404, {}]);
      const theirs = await makeKey(app, other, ['org:read']);
      const ours = await makeKey(app, owner, ['org:read']);
      for (const [method, rest, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { name: 'x' }],
        ['DELETE', '', undefined],
        ['POST', '/rotate', {}],
      ] as const) {
        const missing = plain(await app.http(member, method, keys(`/key_missing${rest}`), body));
        expect(plain(await app.http(owner, method, keys(`/${theirs.id}${rest}`), body))).toEqual(missing);
        expect(plain(await app.http(member, method, keys(`/${ours.id}${rest}`), body))).toEqual(missing);
      }
    });
  });

  describe('409 and 422', () => {
    it('no key is wider than who makes it, whether a user or a key, by making or by rotating', async () => {
      const wide: Permission[] = ['org:read', 'org:write', 'budget:write'];
      expect((await app.http(member, 'POST', keys(), { name: 'x', scopes: wide })).body).toMatchObject({
        code: 'api-key.scope-too-wide',
        detail: 'The scopes have permissions that you do not have: org:write, budget:write.',
      });
      const maker = await makeKey(app, owner, ['api-key:write', 'api-key:read', 'org:read']);
      expect(
        (await use(maker.token, 'POST', keys(), { name: 'x', scopes: ['org:read', 'org:write'] })).body,
      ).toMatchObject({ code: 'api-key.scope-too-wide' });
      expect(
        (await use(maker.token, 'POST', keys(), { name: 'x', scopes: ['org:read', 'api-key:write'] })).status,
      ).toBe(201);
      const wider = await makeKey(app, owner, wide);
      expect((await use(maker.token, 'POST', keys(`/${wider.id}/rotate`), {})).body).toMatchObject({
        code: 'api-key.scope-too-wide',
      });
    });

    it('an owner has at most a hundred keys that work, however they are asked for at once', async () => {
      const many = await app.user('Many');
      const answers = await Promise.all(
        Array.from({ length: MAX_LIVE_API_KEYS + 10 }, () =>
          insisted(() => app.http(many, 'POST', keys('', many.orgId), { name: 'x', scopes: ['org:read'] })),
        ),
      );
      expect(answers.filter(({ status }) => status === 201).length).toBe(MAX_LIVE_API_KEYS);
      expect(answers.filter(({ body }) => body['code'] === 'api-key.limit').length).toBe(10);
    });
  });
});

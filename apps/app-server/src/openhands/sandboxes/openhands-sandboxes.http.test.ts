import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { type Conversation } from '@slipway/contracts/conversations';
import { type CreatedProgramKey, type SandboxInfo, type SandboxPage, SandboxUser } from '@slipway/contracts/openhands';
import { ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

const SECRET = 'a secret for the way into sandboxes, 32 characters';

/** In the order of calls of `OpenHandsCloudWorkspace`. */
describe('sandboxes by OpenHands’ names', () => {
  let app: ConversationApp;
  let ada: User;
  let key: string;
  beforeAll(async () => {
    app = await ConversationApp.start({
      env: { SANDBOX_GATEWAY_URL: 'https://sandboxes.example', SANDBOX_ACCESS_SECRET: SECRET },
    });
    ada = await app.user('Ada');
    key = (await app.http<CreatedProgramKey>(ada, 'POST', '/api/keys', { name: 'a program' })).body.key;
  });
  afterAll(() => app?.close());

  const ask = <T>(method: string, path: string) => withKey<T>(app.url, key, method, `/api/v1/sandboxes${path}`);
  const look = async (id: string) => (await ask<Array<SandboxInfo | null>>('GET', `?id=${id}`)).body[0] ?? null;
  const running = async (id: string) => {
    await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'the key of the sandbox itself' });
    // As worker does once it has seen the agent-server answer.
    await app.owner.query("DELETE FROM app.outbox WHERE queue = 'conversation-start' AND key = $1", [id]);
  };

  it('begin without a task, are entered by a key of their own while they run, and are given back', async () => {
    const { status, body: made } = await ask<SandboxInfo>('POST', '?sandbox_spec_id=ghcr.io/anything');
    expect([status, made]).toMatchObject([
      200,
      { created_by_user_id: ada.userId, status: 'STARTING', session_api_key: null, exposed_urls: null },
    ]);
    const conversation = (await app.http<Conversation>(ada, 'GET', app.path(ada, made.id))).body;
    expect([conversation.queued, conversation.status]).toEqual([[], 'starting']);
    await running(made.id);
    const twice = (await ask<SandboxInfo[]>('GET', `?id=${made.id}&id=${made.id.toUpperCase()}`)).body;
    expect(twice[0]?.session_api_key).toBe(twice[1]?.session_api_key);
    const up = await look(made.id);
    expect(up).toMatchObject({
      status: 'RUNNING',
      exposed_urls: [{ name: 'AGENT_SERVER', url: `https://8000-${made.id}.sandboxes.example`, port: 8000 }],
    });
    const { claims, expiresAtMs } = await new SandboxTokens(SECRET).verify(up?.session_api_key ?? '');
    expect(claims).toMatchObject({ org: ada.orgId, sub: ada.userId, conversation: made.id, port: 8000 });
    expect(expiresAtMs - Date.now()).toBeGreaterThan(3_600_000);
    const again = await new SandboxTokens(SECRET).verify((await look(made.id))?.session_api_key ?? '');
    expect(again.claims.jti).toBe(claims.jti);
    expect((await ask('DELETE', `/${made.id}?sandbox_id=${made.id}`)).status).toBe(200);
    expect(await look(made.id)).toMatchObject({ status: 'PAUSED', session_api_key: null });
    const { rows } = await app.owner.query<{ revoked: boolean }>(
      'SELECT revoked_at IS NOT NULL AS revoked FROM app.sandbox_grant WHERE id = $1',
      [claims.jti],
    );
    expect(rows).toEqual([{ revoked: true }]);
  });

  it('leave no key in the answer that is kept for a repeated start', async () => {
    const begin = () =>
      withKey<SandboxInfo>(app.url, key, 'POST', '/api/v1/sandboxes', undefined, { 'idempotency-key': 'begin-once' });
    const { id } = (await begin()).body;
    await running(id);
    // As after a process that ended between its work and its answer.
    await app.owner.query(
      `UPDATE app.idempotency_key SET status = NULL, created_at = now() - interval '2 minutes', response = jsonb_build_object('reserved', $1::text) WHERE key = 'begin-once'`,
      [id],
    );
    expect((await begin()).body).toMatchObject({ id, status: 'RUNNING', session_api_key: null, exposed_urls: null });
    expect((await look(id))?.session_api_key).not.toBeNull();
  });

  it('are paused and resumed, and one that runs is left alone', async () => {
    const { body: made } = await ask<SandboxInfo>('POST', '');
    await running(made.id);
    expect((await ask('POST', `/${made.id}/resume`)).status).toBe(200);
    expect((await look(made.id))?.status).toBe('RUNNING');
    expect((await ask('POST', `/${made.id}/pause`)).status).toBe(200);
    expect((await look(made.id))?.status).toBe('PAUSED');
    expect((await ask('POST', `/${made.id}/resume`)).status).toBe(200);
    const { rows } = await app.owner.query<{ desired: string; jobs: number }>(
      "SELECT desired, (SELECT count(*)::int FROM app.outbox WHERE key = $1::text AND queue = 'conversation-start') AS jobs FROM app.conversation WHERE id = $1::uuid",
      [made.id],
    );
    expect(rows).toEqual([{ desired: 'run', jobs: 1 }]);
  });

  it('that were resumed before they were given back are STARTING, without a key, until worker has seen them answer', async () => {
    const { body: made } = await ask<SandboxInfo>('POST', '');
    await running(made.id);
    expect((await ask('POST', `/${made.id}/pause`)).status).toBe(200);
    expect((await ask('POST', `/${made.id}/resume`)).status).toBe(200);
    // What is there is what the pause has not taken away yet.
    const { rows } = await app.owner.query<{ sandbox_status: string; start_status: string }>(
      'SELECT sandbox_status, start_status FROM app.conversation WHERE id = $1',
      [made.id],
    );
    expect(rows).toEqual([{ sandbox_status: 'RUNNING', start_status: 'READY' }]);
    expect(await look(made.id)).toMatchObject({ status: 'STARTING', session_api_key: null, exposed_urls: null });
    const conversation = async () => (await app.http<Conversation>(ada, 'GET', app.path(ada, made.id))).body;
    expect((await conversation()).sandboxStatus).toBe('STARTING');
    await running(made.id);
    expect((await look(made.id))?.status).toBe('RUNNING');
    expect((await conversation()).sandboxStatus).toBe('RUNNING');
  });

  it('are ended by who started them and by admins: a member pauses that of another user’s conversation, and does not end it', async () => {
    const keyOf = async (name: string, role: string): Promise<{ key: string; user: User }> => {
      const user = await app.user(name);
      await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
        ada.orgId,
        user.userId,
        role,
      ]);
      return {
        key: (await makeKey(app, { ...user, orgId: ada.orgId }, ROLE_PERMISSIONS[role as 'member'])).token,
        user,
      };
    };
    const [member, admin] = [await keyOf('Member', 'member'), await keyOf('Admin', 'admin')];
    const { body: made } = await ask<SandboxInfo>('POST', '');
    await running(made.id);
    const entered = (await look(made.id))?.session_api_key ?? '';
    expect((await new SandboxTokens(SECRET).verify(entered)).claims.sub).toBe(ada.userId);
    const state = async (id: string) =>
      (
        await app.owner.query<{ desired: string; held: boolean; audit: string[] }>(
          `SELECT desired, EXISTS (SELECT 1 FROM app.sandbox_grant WHERE conversation_id = c.id AND revoked_at IS NULL) AS held,
             ARRAY(SELECT action FROM app.audit_entry WHERE target LIKE c.id || '%' AND action IN ('conversation.pause', 'sandbox.stop', 'sandbox.revoke') ORDER BY 1) AS audit
           FROM app.conversation c WHERE id = $1`,
          [id],
        )
      ).rows[0];
    const end = (by: string, id = made.id) =>
      withKey<{ code?: string }>(app.url, by, 'DELETE', `/api/v1/sandboxes/${id}`);
    const weak = (await makeKey(app, ada, ['conversation:write'])).token;
    for (const by of [member.key, weak]) {
      expect(await end(by)).toMatchObject({ status: 403, body: { code: 'permission.denied' } });
      expect((await end(by, randomUUID())).status).toBe(404);
    }
    expect(await state(made.id)).toEqual({ desired: 'run', held: true, audit: [] });
    expect((await end(admin.key)).status).toBe(200);
    expect(await state(made.id)).toEqual({
      desired: 'rest',
      held: false,
      audit: ['conversation.pause', 'sandbox.revoke', 'sandbox.stop'],
    });
    const own = (await withKey<SandboxInfo>(app.url, member.key, 'POST', '/api/v1/sandboxes')).body;
    expect((await withKey(app.url, member.key, 'POST', `/api/v1/sandboxes/${own.id}/pause`)).status).toBe(200);
    expect((await end(member.key, own.id)).status).toBe(200);
    expect((await state(own.id))?.audit).toEqual(['conversation.pause']);
  });

  it('give a client with an agent of its own the model and the names of secrets, and neither a key nor a value', async () => {
    const own = { name: 'own', model: 'gpt-of-ours', apiKey: 'sk-a-key-of-the-organization', default: true };
    for (const profile of [own, { name: 'plain', model: 'demo', temperature: 0.5 }])
      expect((await app.http(ada, 'POST', `/api/v1/orgs/${ada.orgId}/llm-profiles`, profile)).status).toBe(201);
    const { status, body: user } = await withKey<SandboxUser>(
      app.url,
      key,
      'GET',
      '/api/v1/users/me?expose_secrets=true',
    );
    expect([status, user]).toEqual([
      200,
      {
        id: ada.userId,
        llm_model: 'openai/gpt-of-ours',
        llm_api_key: null,
        llm_base_url: null,
        llm_profiles: {
          profiles: { own: { model: 'openai/gpt-of-ours' }, plain: { model: 'demo', temperature: 0.5 } },
        },
        mcp_config: null,
      },
    ]);
    expect((await fetch(`${app.url}/api/v1/users/me`)).status).toBe(401);

    const keep = (body: object) => app.http(ada, 'POST', `/api/v1/orgs/${ada.orgId}/secrets`, body);
    const { body: made } = await ask<SandboxInfo>('POST', '');
    const other = (await ask<SandboxInfo>('POST', '')).body.id;
    for (const body of [
      { name: 'SHARED', value: 'a value of all', description: 'wide' },
      { name: 'SHARED', value: 'a value of one', scope: 'conversation', scopeValue: made.id, description: 'narrow' },
      { name: 'ELSEWHERE', value: 'a value of another', scope: 'conversation', scopeValue: other },
      { name: 'OF_GIT', kind: 'git', value: 'a password', host: 'git.example' },
    ])
      expect((await keep(body)).status).toBeLessThan(300);
    await running(made.id);
    const session = (await look(made.id))?.session_api_key ?? '';
    const secrets = (sandbox: string, proof: Record<string, string>) =>
      fetch(`${app.url}/api/v1/sandboxes/${sandbox}/settings/secrets`, { headers: proof }).then(async (answer) => [
        answer.status,
        (await answer.json()) as object,
      ]);
    expect(await secrets(made.id, { 'x-session-api-key': session })).toEqual([
      200,
      { secrets: [{ name: 'SHARED', description: 'narrow' }] },
    ]);
    expect((await secrets(other, { 'x-session-api-key': session }))[0]).toBe(404);
    for (const wrong of ['', 'x', `${session}x`, key])
      expect((await secrets(made.id, { 'x-session-api-key': wrong }))[0]).toBe(401);
    expect((await secrets(made.id, {}))[0]).toBe(401);
    expect((await ask('DELETE', `/${made.id}`)).status).toBe(200);
    expect((await secrets(made.id, { 'x-session-api-key': session }))[0]).toBe(401);
  });

  it('are listed for who started them, newest first and page by page, and no list lets anybody in', async () => {
    const bea = await app.user('Bea');
    const theirs = (await app.http<CreatedProgramKey>(bea, 'POST', '/api/keys', { name: 'a program' })).body.key;
    const search = (query: string) =>
      withKey<SandboxPage & { code?: string }>(app.url, theirs, 'GET', `/api/v1/sandboxes/search${query}`);
    const made: string[] = [];
    for (let time = 0; time < 5; time += 1)
      made.unshift((await withKey<SandboxInfo>(app.url, theirs, 'POST', '/api/v1/sandboxes')).body.id);
    await running(made[0] ?? '');
    // Another user's of the same organization, between them.
    await app.owner.query('UPDATE app.conversation SET created_by = $2 WHERE id = $1', [made[2], ada.userId]);
    const own = made.filter((_, index) => index !== 2);
    const found: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: SandboxPage = (await search(`?limit=3${next === '' ? '' : `&page_id=${next}`}`)).body;
      found.push(...page.items.map(({ id }) => id));
      expect(new Set(page.items.map(({ session_api_key, exposed_urls }) => session_api_key ?? exposed_urls))).toEqual(
        new Set([null]),
      );
      next = page.next_page_id;
    }
    expect(found).toEqual(own);
    expect((await search('')).body).toMatchObject({
      items: [{ status: 'RUNNING', created_by_user_id: bea.userId }, {}, {}, {}],
      next_page_id: null,
    });
    const grants = await app.owner.query('SELECT 1 FROM app.sandbox_grant WHERE conversation_id = ANY ($1::uuid[])', [
      made,
    ]);
    expect(grants.rowCount).toBe(0);
    for (const unknown of [made[2], randomUUID()])
      expect((await search(`?page_id=${unknown}`)).body).toEqual({ items: [], next_page_id: null });
    for (const wrong of ['?limit=0', '?limit=101', '?page_id=x']) expect((await search(wrong)).status).toBe(400);
    expect((await ask<SandboxPage>('GET', '/search')).body.items.map(({ id }) => id)).not.toEqual(
      expect.arrayContaining([own[0]]),
    );
  });

  it('of others are as those that there are not', async () => {
    const other = await app.user('Eve');
    const foreign = (await app.http<Conversation>(other, 'POST', app.path(other), { prompt: 'x' })).body.id;
    const missing = randomUUID();
    expect((await ask<unknown[]>('GET', `?id=${foreign}&id=${missing}`)).body).toEqual([null, null]);
    for (const [method, rest] of [
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['DELETE', ''],
    ] as const)
      for (const id of [foreign, missing]) expect((await ask(method, `/${id}${rest}`)).status).toBe(404);
    expect((await ask('GET', '?id=none')).status).toBe(400);
    expect((await ask('GET', '')).status).toBe(400);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MySettings } from '@slipway/contracts/identity';
import type { Me } from '@slipway/contracts/organizations';
import { migrateQueue } from '@slipway/queue/migrate';
import {
  CookieClient,
  createTestDatabase,
  freePort,
  type SignedInClient,
  SigningIssuer,
  signIn,
  stopwatch,
  type TestDatabase,
  until,
} from '@slipway/testing';
import pg from 'pg';
import { io } from 'socket.io-client';
import { startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';

const TERMS = {
  TERMS_URL: 'https://slipway.example/terms',
  TERMS_VERSION: '2026-11',
  REQUIRE_VERIFIED_EMAIL: 'true',
  OIDC_BROKERS: 'github, gitlab',
};

describe('one’s own account', () => {
  let database: TestDatabase;
  let issuer: SigningIssuer;
  let plain: TestApp;
  let gated: TestApp;
  let owner: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase({
      extra: { name: 'queue', prepare: (ownerUrl) => migrateQueue(ownerUrl, 'slipway_app') },
    });
    issuer = await SigningIssuer.start();
    plain = await startTestApp(testConfig(await freePort(), database, issuer));
    gated = await startTestApp(testConfig(await freePort(), database, issuer, TERMS));
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await gated?.close();
    await plain?.close();
    await issuer?.close();
    await database?.close();
  });

  const user = (
    app: TestApp,
    sub: string,
    more: Partial<SigningIssuer['user']> = {},
    browser?: CookieClient,
  ): Promise<SignedInClient> => {
    issuer.user = { sub, name: sub, email: `${sub}@example.test`, ...more };
    return signIn(app.url, undefined, browser);
  };
  const problem = async (response: Response): Promise<[number, string]> => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ];
  const socketOf = (app: TestApp, client: SignedInClient): Promise<string> =>
    new Promise((resolve) => {
      const socket = io(app.url, {
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
        extraHeaders: { cookie: client.cookie, origin: app.url },
      });
      const done = (outcome: string): void => {
        socket.close();
        resolve(outcome);
      };
      socket.once('connect', () => done('connected'));
      socket.once('connect_error', (error) => done((error as unknown as { data: { code: string } }).data.code));
    });
  const audit = async (userId: string): Promise<string[]> =>
    (
      await owner.query<{ action: string }>(
        "SELECT action FROM app.audit_entry WHERE org_id = (SELECT org_id FROM app.membership WHERE user_id = $1) AND action NOT LIKE 'session.%' ORDER BY created_at, action",
        [userId],
      )
    ).rows.map(({ action }) => action);

  it('whose e-mail address is not verified, and who has not accepted the terms, gets that answer from everything but what leads out of it; sockets too', async () => {
    const browser = new CookieClient();
    const client = await user(gated, 'gil', { email_verified: false }, browser);
    expect(client.me).toMatchObject({
      emailVerified: false,
      gates: ['email-unverified', 'terms-required'],
      terms: { url: TERMS.TERMS_URL, version: TERMS.TERMS_VERSION, acceptedVersion: null },
    });
    const org = client.me.orgs[0]?.id ?? '';
    const closed = [
      ['GET', `/api/v1/orgs/${org}`],
      ['GET', '/api/v1/me/settings'],
      ['GET', '/api/v1/me/sessions'],
      ['GET', '/api/v1/me/connections'],
      ['POST', '/api/v1/me/sessions/end-all'],
    ] as const;
    for (const [method, path] of closed)
      expect([path, ...(await problem(await client.fetch(path, { method })))]).toEqual([
        path,
        403,
        'account.email-unverified',
      ]);
    expect(await socketOf(gated, client)).toBe('account.email-unverified');
    const resend = await client.fetch('/api/v1/me/verify-email', { method: 'POST' });
    const { url } = (await resend.json()) as { url: string };
    expect([resend.status, url]).toEqual([200, '/oauth/login?verify=1&login_hint=gil%40example.test']);

    // The way through the issuer, which has the verification by then.
    issuer.user = { ...issuer.user, email_verified: true };
    await browser.follow(`${gated.url}${url}`);
    expect([issuer.asked.at(-1)?.get('kc_action'), issuer.asked.at(-1)?.get('login_hint')]).toEqual([
      'VERIFY_EMAIL',
      'gil@example.test',
    ]);
    const verified = await user(gated, 'gil', { email_verified: true }, browser);
    expect(verified.me.gates).toEqual(['terms-required']);
    for (const [method, path] of closed)
      expect([path, ...(await problem(await verified.fetch(path, { method })))]).toEqual([
        path,
        403,
        'account.terms-required',
      ]);
    expect(await socketOf(gated, verified)).toBe('account.terms-required');

    expect(
      await problem(await verified.fetch('/api/v1/me/accept-terms', { method: 'POST', json: { version: '2025-01' } })),
    ).toEqual([409, 'account.terms-changed']);
    const accepted = await verified.fetch('/api/v1/me/accept-terms', {
      method: 'POST',
      json: { version: TERMS.TERMS_VERSION },
    });
    expect(((await accepted.json()) as Me).gates).toEqual([]);
    for (const [method, path] of closed)
      expect([path, (await verified.fetch(path, { method })).status]).toEqual([path, 200]);
    expect(await socketOf(gated, verified)).toBe('connected');
    expect((await verified.fetch('/api/v1/me/accept-terms', { method: 'POST', json: {} })).status).toBe(200);
    expect(await audit(verified.me.id)).toEqual(['org.create', 'terms.accept']);
  });

  it('OpenHands’ name for accepting the terms does the same; where there are none, nothing asks for them', async () => {
    const client = await user(gated, 'hal', { email_verified: true });
    const answer = await client.fetch('/api/accept_tos', {
      method: 'POST',
      json: { redirect_url: 'https://evil.example' },
    });
    expect([answer.status, await answer.json()]).toEqual([200, { redirect_url: '/' }]);
    expect((await client.fetch('/api/v1/me/settings')).status).toBe(200);
    const free = await user(plain, 'ivy', { email_verified: false });
    expect(free.me).toMatchObject({ gates: [], terms: null, emailVerified: false });
    expect((await free.fetch('/api/v1/me/settings')).status).toBe(200);
    expect(await problem(await free.fetch('/api/v1/me/accept-terms', { method: 'POST', json: {} }))).toEqual([
      404,
      'resource.not-found',
    ]);
  });

  it('holds up the API keys of who has not passed it, over HTTP and sockets, until they have; not those of a service account', async () => {
    const client = await user(gated, 'nia', { email_verified: true });
    await client.fetch('/api/v1/me/accept-terms', { method: 'POST', json: {} });
    const org = client.me.orgs[0]?.id ?? '';
    const make = async (body: object): Promise<string> => {
      const answer = await client.fetch(`/api/v1/orgs/${org}/api-keys`, {
        method: 'POST',
        json: { scopes: ['org:read', 'conversation:read'], ...body },
      });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { token: string }).token;
    };
    const account = (await (
      await client.fetch(`/api/v1/orgs/${org}/service-accounts`, {
        method: 'POST',
        json: { name: 'ci', role: 'viewer' },
      })
    ).json()) as {
      id: string;
    };
    const [own, robots] = [await make({ name: 'own' }), await make({ name: 'ci', serviceAccountId: account.id })];
    const ask = (token: string, path = `/api/v1/orgs/${org}`): Promise<Response> =>
      fetch(`${gated.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
    const socketBy = (token: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = io(gated.url, {
          transports: ['websocket'],
          reconnection: false,
          forceNew: true,
          auth: { token },
        });
        const done = (outcome: string): void => {
          socket.close();
          resolve(outcome);
        };
        socket.once('connect', () => done('connected'));
        socket.once('connect_error', (error) => done((error as unknown as { data: { code: string } }).data.code));
      });
    const held = async (token: string, code: string | null): Promise<void> => {
      await until(
        `it answers ${code ?? 'as before'}`,
        async () => (code === null ? (await ask(token)).ok : (await problem(await ask(token)))[1] === code),
        4_000,
      );
      expect(await socketBy(token)).toBe(code ?? 'connected');
      expect(((await (await ask(token, '/api/v1/me')).json()) as Me).gates).toEqual(
        code === null ? [] : [code.replace('account.', '')],
      );
    };
    await held(own, null);
    await owner.query("UPDATE app.user_account SET terms_version = '2025-01' WHERE id = $1", [client.me.id]);
    await held(own, 'account.terms-required');
    await held(robots, null);
    await owner.query('UPDATE app.user_account SET terms_version = $2, email_verified = false WHERE id = $1', [
      client.me.id,
      TERMS.TERMS_VERSION,
    ]);
    await held(own, 'account.email-unverified');
    await owner.query('UPDATE app.user_account SET email_verified = true WHERE id = $1', [client.me.id]);
    await held(own, null);
  });

  it('signs out also who has passed no gate', async () => {
    const client = await user(gated, 'jan');
    expect((await client.fetch('/api/logout', { method: 'POST' })).status).toBe(200);
    expect((await client.fetch('/api/v1/me')).status).toBe(401);
  });

  it('settings have defaults, change in part, and a change to what has changed meanwhile is refused', async () => {
    const client = await user(plain, 'kim');
    const read = await client.fetch('/api/v1/me/settings');
    const before = (await read.json()) as MySettings;
    expect([read.headers.get('etag'), before.version, before.theme, before.notifications['new-sign-in']]).toEqual([
      '"1"',
      1,
      'system',
      { inApp: false, email: false },
    ]);
    const patch = (json: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      client.fetch('/api/v1/me/settings', { method: 'PATCH', json, headers });

    const first = await patch(
      { theme: 'dark', gitAuthorName: '  Kim O’Neil ', notifications: { 'new-sign-in': { email: true } } },
      { 'if-match': '"1"' },
    );
    const after = {
      ...before,
      version: 2,
      theme: 'dark',
      gitAuthorName: 'Kim O’Neil',
      notifications: { ...before.notifications, 'new-sign-in': { inApp: false, email: true } },
    };
    expect([first.status, first.headers.get('etag'), await first.json()]).toEqual([200, '"2"', after]);
    expect(await problem(await patch({ theme: 'light' }, { 'if-match': '"1"' }))).toEqual([412, 'settings.changed']);
    expect(await problem(await patch({ theme: 'light' }, { 'if-match': 'W/"2"' }))).toEqual([412, 'settings.changed']);
    for (const headers of [{ 'if-match': '"1", "2"' }, { 'if-match': '*' }, {}] as Array<Record<string, string>>)
      expect((await patch({ density: 'compact' }, headers)).status).toBe(200);
    expect(await (await client.fetch('/api/v1/me/settings')).json()).toEqual({
      ...after,
      version: 5,
      density: 'compact',
    });

    const refused: unknown[] = [
      { theme: 'pink' },
      { gitAuthorName: 'a\nb' },
      { gitAuthorName: 'A <a@b>' },
      { gitAuthorEmail: 'x' },
      { language: '../en' },
      { unknown: 1 },
      { notifications: { other: {} } },
    ];
    for (const body of refused)
      expect([body, ...(await problem(await patch(body)))]).toEqual([body, 400, 'request.invalid']);
    // Ten at once, each for a field of its own: none is lost.
    const events = Object.keys(before.notifications);
    const many = await Promise.all(
      events.map((event) => patch({ notifications: { [event]: { inApp: false, email: true } } })),
    );
    expect(many.map(({ status }) => status)).toEqual(events.map(() => 200));
    const { notifications } = (await (await client.fetch('/api/v1/me/settings')).json()) as MySettings;
    expect(notifications).toEqual(Object.fromEntries(events.map((event) => [event, { inApp: false, email: true }])));
  });

  it('tokens of brokered providers are kept unreadable, shown as a connection and forgotten on demand', async () => {
    issuer.stored = (provider) =>
      provider === 'github'
        ? { status: 200, body: JSON.stringify({ access_token: 'gho_secret', scope: 'repo,user:email', expires_in: 0 }) }
        : { status: 404, body: '' };
    const client = await user(gated, 'lea', { email_verified: true, identity_provider: 'github' });
    await client.fetch('/api/v1/me/accept-terms', { method: 'POST', json: {} });
    const list = await client.fetch('/api/v1/me/connections');
    const text = await list.text();
    expect(JSON.parse(text)).toEqual({
      data: [
        {
          provider: 'github',
          scopes: ['repo', 'user:email'],
          connectedAt: expect.any(String),
          refreshedAt: expect.any(String),
          expiresAt: null,
        },
      ],
    });
    expect(text).not.toContain('gho_secret');
    const { rows } = await owner.query<{ token: Buffer }>('SELECT token FROM app.provider_token WHERE user_id = $1', [
      client.me.id,
    ]);
    expect(rows[0]?.token.toString('latin1')).not.toContain('gho_secret');
    expect((await client.fetch('/api/v1/me/connections/github', { method: 'DELETE' })).status).toBe(204);
    expect(await problem(await client.fetch('/api/v1/me/connections/github', { method: 'DELETE' }))).toEqual([
      404,
      'resource.not-found',
    ]);
    expect(await (await client.fetch('/api/v1/me/connections')).json()).toEqual({ data: [] });
    expect(await audit(client.me.id)).toEqual(['org.create', 'terms.accept', 'connection.delete']);
  });

  it('a provider’s token that cannot be had holds up no sign-in for more than two seconds and fails none', async () => {
    for (const stored of [
      () => 'hang' as const,
      () => ({ status: 500, body: '' }),
      () => ({ status: 200, body: 'nonsense' }),
    ]) {
      issuer.stored = stored;
      const passed = stopwatch();
      const client = await user(gated, 'mia', { email_verified: true });
      expect(client.me.email).toBe('mia@example.test');
      expect(passed()).toBeLessThan(4_000);
    }
    // One that comes too late for the sign-in is kept all the same.
    issuer.stored = () => ({ status: 200, body: JSON.stringify({ access_token: 'late', scope: '' }) });
    const late = await user(gated, 'mia', { email_verified: true });
    await until(
      'it is kept',
      async () =>
        (await owner.query('SELECT 1 FROM app.provider_token WHERE user_id = $1', [late.me.id])).rowCount === 2,
    );
  });
});

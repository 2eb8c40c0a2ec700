import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CookieClient,
  createTestDatabase,
  freePort,
  type IdentityServer,
  type SignedInClient,
  signIn,
  startIdentityServer,
  submitForm,
  type TestDatabase,
  until,
} from '@slipway/testing';
import pg from 'pg';
import { DomainsModule } from '../../organizations/domains/domains.module.js';
import { MovableClock, startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';
import { MeModule } from '../me/me.module.js';
import { SignInModule } from './sign-in.module.js';

const FEATURES = [SignInModule, DomainsModule.register(), MeModule];

describe('signing in', () => {
  let database: TestDatabase;
  let identity: IdentityServer;
  let server: TestApp;
  let owner: pg.Client;
  const clock = new MovableClock();

  beforeAll(async () => {
    database = await createTestDatabase();
    const port = await freePort();
    identity = await startIdentityServer(`http://127.0.0.1:${port}`);
    server = await startTestApp(testConfig(port, database, identity), { clock, features: FEATURES });
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await server?.close();
    await identity?.close();
    await database?.close();
  });

  it('ten first sign-ins of one user at the same time make one account, one personal organization and one owner', async () => {
    // An issuer that is too slow for ten at once on a busy machine is reported to the user, who signs in again; nothing
    // else is.
    const insistent = async (): Promise<SignedInClient> => {
      for (;;) {
        const outcome = await signIn(server.url).catch((error: Error) => error);
        if (!(outcome instanceof Error)) return outcome;
        if (!/ended at \S+ with 503: /.test(outcome.message)) throw outcome;
      }
    };
    const people = await Promise.all(Array.from({ length: 10 }, insistent));
    expect(new Set(people.map(({ me }) => me.id)).size).toBe(1);
    expect(new Set(people.map(({ cookie }) => cookie)).size).toBe(10);
    const counts = await owner.query(
      'SELECT (SELECT count(*) FROM app.user_account)::int AS users, (SELECT count(*) FROM app.org)::int AS orgs, (SELECT count(*) FROM app.membership)::int AS members',
    );
    expect(counts.rows[0]).toEqual({ users: 1, orgs: 1, members: 1 });
    expect(people[0]?.me.orgs[0]).toMatchObject({
      kind: 'personal',
      role: 'owner',
      slug: 'demo-person',
      name: 'Demo Person',
    });
  });

  it('two people of the same name get two organizations with two addresses', async () => {
    const browser = new CookieClient();
    const page = await browser.follow(`${server.url}/oauth/login?redirect=/api/v1/me`);
    const registration = await browser.follow(`${page.url.href}/register`);
    const { response } = await submitForm(browser, registration, {
      name: 'Demo Person',
      email: 'twin@example.test',
      username: 'twin',
      password: 'correct horse',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      name: 'Demo Person',
      email: 'twin@example.test',
      orgs: [{ slug: 'demo-person-2' }],
    });
  });

  it('the cookie is for this site only, unreadable for scripts, and holds nothing but a session id', async () => {
    const browser = new CookieClient();
    const page = await browser.follow(`${server.url}/oauth/login`);
    const html = await page.response.text();
    const action = new URL(/action="([^"]+)"/.exec(html)?.[1] ?? '', page.url);
    let response = await browser.send(action, {
      method: 'POST',
      body: new URLSearchParams({ username: 'demo', password: 'demo' }),
    });
    while (!response.headers.getSetCookie().some((line) => line.startsWith('keycloak_auth=')))
      response = await browser.send(new URL(response.headers.get('location') ?? '', action));
    const line = response.headers.getSetCookie().find((cookie) => cookie.startsWith('keycloak_auth=')) ?? '';
    expect(line).toContain('HttpOnly');
    expect(line).toContain('SameSite=Lax');
    const claims = JSON.parse(Buffer.from(line.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'sid']);
    expect(response.headers.get('location')).toBe(`${server.url}/`);
  });

  it('asks the issuer with PKCE, and the issuer refuses a request without it', async () => {
    const response = await fetch(`${server.url}/oauth/login`, { redirect: 'manual' });
    const url = new URL(response.headers.get('location') ?? '');
    expect(url.searchParams.get('code_challenge_method')).toBe('S256');
    expect(url.searchParams.get('nonce')).toBeTruthy();
    url.searchParams.delete('code_challenge');
    url.searchParams.delete('code_challenge_method');
    const refused = await fetch(url, { redirect: 'manual' });
    expect(refused.headers.get('location')).toContain('error=invalid_request');
  });

  it('refuses a callback that another browser began, one with a changed state, and one that comes a second time', async () => {
    const victim = new CookieClient();
    const attacker = new CookieClient();
    const began = await attacker.follow(`${server.url}/oauth/login`);
    let response = await attacker.send(
      new URL(/action="([^"]+)"/.exec(await began.response.text())?.[1] ?? '', began.url),
      {
        method: 'POST',
        body: new URLSearchParams({ username: 'demo', password: 'demo' }),
      },
    );
    while (!(response.headers.get('location') ?? '').startsWith(`${server.url}/oauth/keycloak/callback`))
      response = await attacker.send(response.headers.get('location') ?? '');
    const callback = new URL(response.headers.get('location') ?? '');

    const inVictim = await victim.send(callback);
    expect([inVictim.status, await inVictim.json()]).toMatchObject([400, { code: 'auth.sign-in-failed' }]);
    expect(victim.cookieHeader(callback)).toBe('');

    const changed = new URL(callback);
    changed.searchParams.set('state', `${callback.searchParams.get('state')}x`);
    expect((await attacker.send(changed)).status).toBe(400);

    expect((await attacker.send(callback)).status).toBe(302);
    expect((await attacker.send(callback)).status).toBe(400);
  });

  it('goes back to a path of ours and nowhere else', async () => {
    for (const [given, reached] of [
      ['/api/v1/me?x=1', '/api/v1/me'],
      ['//evil.example/a', '/'],
      ['/\\evil.example', '/'],
      ['https://evil.example', '/'],
    ] as const) {
      const browser = new CookieClient();
      const page = await browser.follow(`${server.url}/oauth/login?redirect=${encodeURIComponent(given)}`);
      const { url } = await submitForm(browser, page, { username: 'demo', password: 'demo' });
      expect(`${url.origin}${url.pathname}`).toBe(`${server.url}${reached}`);
    }
  });

  it('an invitation leads to its page, through a registration too', async () => {
    const browser = new CookieClient();
    const page = await browser.follow(`${server.url}/oauth/login?invitation=inv_token-123&redirect=/elsewhere`);
    const registration = await browser.follow(`${page.url.href}/register`);
    const { url } = await submitForm(browser, registration, {
      name: 'Invited Person',
      email: 'invited@example.test',
      username: 'invited',
      password: 'correct horse',
    });
    expect(url.href).toBe(`${server.url}/invite/inv_token-123`);
  });

  it('who switches is asked who they are, though the issuer knows the browser, and is another user afterwards; the session before is over', async () => {
    const browser = new CookieClient();
    const before = await signIn(server.url, undefined, browser);
    const straight = await browser.follow(`${server.url}/oauth/login?redirect=/api/v1/me`);
    expect(straight.url.href).toBe(`${server.url}/api/v1/me`);
    const asked = await browser.follow(`${server.url}/oauth/login?switch=1&login_hint=invited&redirect=/api/v1/me`);
    expect(asked.url.origin).toBe(new URL(identity.issuerUrl).origin);
    // The issuer signs the other user out by a form that sends itself, and leads back here for a new sign-in.
    const form = await submitForm(browser, asked, {});
    const page = await submitForm(browser, form, { username: 'invited', password: 'correct horse' });
    expect(await page.response.json()).toMatchObject({ name: 'Invited Person' });
    expect((await before.fetch('/api/v1/me')).status).toBe(401);
  });

  it('a link of another site to switch signs no user out, and what comes back from the issuer leads nowhere that this server has not sealed', async () => {
    const client = await signIn(server.url);
    const away = await client.fetch('/oauth/login?switch=1&redirect=/api/v1/me', {
      headers: { 'sec-fetch-site': 'cross-site' },
      redirect: 'manual',
    });
    expect([away.status, new URL(away.headers.get('location') ?? '').pathname.endsWith('/auth')]).toEqual([302, true]);
    expect((await client.fetch('/api/v1/me')).status).toBe(200);
    for (const state of ['', 'nonsense', 'https://evil.example']) {
      const back = await client.fetch(`/oauth/switched?state=${encodeURIComponent(state)}`, { redirect: 'manual' });
      expect([state, back.status, back.headers.get('location')?.includes('evil')]).toEqual([state, 302, false]);
    }
  });

  it('shows a page with a way on to a browser whose sign-in failed', async () => {
    const response = await fetch(`${server.url}/oauth/keycloak/callback?code=x&state=y`, {
      headers: { accept: 'text/html' },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('href="/oauth/login"');
  });

  it('signing in again gives a new session id and ends the one before', async () => {
    const browser = new CookieClient();
    const first = await signIn(server.url, undefined, browser);
    const second = await signIn(server.url, undefined, browser);
    expect(second.cookie).not.toBe(first.cookie);
    expect((await second.fetch('/api/v1/me')).status).toBe(200);
    expect((await first.fetch('/api/v1/me')).status).toBe(401);
  });

  it('signing out ends the session at once and leads to the end of the session with the issuer', async () => {
    const browser = new CookieClient();
    const user = await signIn(server.url, undefined, browser);
    expect((await user.fetch('/api/authenticate', { method: 'POST' })).status).toBe(200);
    const answer = await user.fetch('/api/logout', { method: 'POST' });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie().join()).toMatch(/keycloak_auth=;.*Max-Age=0/);
    expect((await user.fetch('/api/v1/me')).status).toBe(401);
    expect((await user.fetch('/api/authenticate', { method: 'POST' })).status).toBe(401);

    const { logoutUrl } = (await answer.json()) as { logoutUrl: string };
    const signedOut = await submitForm(browser, await browser.follow(logoutUrl), {});
    expect(signedOut.url.href).toBe(`${server.url}/`);
    const again = await browser.follow(`${server.url}/oauth/login`);
    expect(await again.response.text()).toContain('Sign in to Slipway');
  });

  it('a sign-out that another site asks for is refused, and the session stays', async () => {
    const user = await signIn(server.url);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '', 'sec-fetch-site': 'cross-site' },
    ]) {
      const response = await fetch(`${server.url}/api/logout`, {
        method: 'POST',
        headers: { cookie: user.cookie, ...headers },
      });
      expect([response.status, await response.json()]).toMatchObject([403, { code: 'request.cross-site' }]);
    }
    const bare = await fetch(`${server.url}/api/logout`, { method: 'POST', headers: { cookie: user.cookie } });
    expect(bare.status).toBe(403);
    expect((await user.fetch('/api/v1/me')).status).toBe(200);
    const own = await fetch(`${server.url}/api/authenticate`, {
      method: 'POST',
      headers: { cookie: user.cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(own.status).toBe(200);
  });

  it('people stay signed in while the issuer is killed and started again, though their tokens come due; a sign-in says what is wrong', async () => {
    const user = await signIn(server.url);
    const sessions = async (): Promise<string> =>
      (
        (await owner.query('SELECT max(access_expires_at) AS due FROM app.session')).rows[0] as { due: Date }
      ).due.toISOString();
    await identity.kill();
    clock.advance(301_000);
    expect((await user.fetch('/api/v1/me')).status).toBe(200);
    await until(
      'the last answer of the issuer is too old to send anybody there',
      async () => (await fetch(`${server.url}/oauth/login`, { redirect: 'manual' })).status === 503,
    );

    await identity.start();
    const before = await sessions();
    clock.advance(20_000);
    expect((await user.fetch('/api/v1/me')).status).toBe(200);
    expect(await sessions()).not.toBe(before);
    expect((await user.fetch('/api/v1/me')).status).toBe(200);
  });

  it('signing out with the issuer ends the session here, by the logout token that it sends', async () => {
    const browser = new CookieClient();
    const user = await signIn(server.url, undefined, browser);
    const elsewhere = await browser.follow(`${identity.issuerUrl}/protocol/openid-connect/logout`);
    await submitForm(browser, elsewhere, {});
    await until('the session is over', async () => (await user.fetch('/api/v1/me')).status === 401);
    const { rows } = await owner.query(
      "SELECT detail->>'reason' AS reason FROM app.audit_entry WHERE action = 'session.end' ORDER BY created_at DESC LIMIT 1",
    );
    expect(rows).toEqual([{ reason: 'ended-by-issuer' }]);
  });

  it('starts and serves while the issuer has never answered, and says so to who signs in', async () => {
    const port = await freePort();
    const lonely = await startTestApp(
      testConfig(port, database, { ...identity, issuerUrl: `http://127.0.0.1:${await freePort()}/realms/slipway` }),
      {
        features: FEATURES,
      },
    );
    try {
      expect((await fetch(`${lonely.url}/ready`)).status).toBe(200);
      const response = await fetch(`${lonely.url}/oauth/login`, { redirect: 'manual' });
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { code: 'auth.unavailable', retry: 'later' },
      ]);
      expect(response.headers.get('retry-after')).toBe('5');
    } finally {
      await lonely.close();
    }
  });

  it('a browser on this machine that came by another of its names goes on under the public one; other hosts are no concern of ours', async () => {
    const location = (host: string): Promise<string> =>
      new Promise((resolve, reject) => {
        get(`${server.url}/oauth/login?redirect=/x`, { headers: { host } }, (response) =>
          resolve(response.resume().headers.location ?? ''),
        ).once('error', reject);
      });
    expect(await location(`localhost:${new URL(server.url).port}`)).toBe(`${server.url}/oauth/login?redirect=/x`);
    expect(await location('app-server.internal')).toContain(identity.issuerUrl);
  });
});

import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CookieClient, type IdentityServer, startIdentityServer, submitForm } from '@slipway/testing';

const APP = 'http://127.0.0.1:9';
const CALLBACK = `${APP}/oauth/keycloak/callback`;

interface TokenAnswer {
  access_token: string;
  refresh_token: string;
  id_token: string;
  expires_in: number;
  error?: string;
}

describe('embedded-identity', () => {
  let identity: IdentityServer;
  beforeAll(async () => {
    identity = await startIdentityServer(APP);
  });
  afterAll(() => identity?.close());

  const endpoint = (path: string): string => `${identity.issuerUrl}/protocol/openid-connect/${path}`;
  const verifier = randomBytes(32).toString('base64url');

  function authorizationUrl(more: Record<string, string> = {}): URL {
    const url = new URL(endpoint('auth'));
    url.search = new URLSearchParams({
      client_id: identity.clientId,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid profile email',
      state: 'a-state',
      nonce: 'a-nonce',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    }).toString();
    return url;
  }

  /** Follows redirects as far as the app's callback, whose URL it answers; or the page where they end. */
  async function authorize(
    browser: CookieClient,
    start: URL | string,
    init: RequestInit = {},
  ): Promise<{ callback: URL } | { page: { url: URL; response: Response } }> {
    let target = new URL(start);
    let response = await browser.send(target, init);
    while (response.status >= 300 && response.status < 400) {
      target = new URL(response.headers.get('location') ?? '', target);
      if (target.href.startsWith(CALLBACK)) return { callback: target };
      response = await browser.send(target);
    }
    return { page: { url: target, response } };
  }

  async function openSignIn(browser: CookieClient): Promise<{ url: URL; response: Response }> {
    const answer = await authorize(browser, authorizationUrl());
    if (!('page' in answer)) throw new Error('already signed in');
    return answer.page;
  }

  async function submit(
    browser: CookieClient,
    url: URL,
    values: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<{ callback: URL } | { page: { url: URL; response: Response } }> {
    return authorize(browser, url, {
      method: 'POST',
      body: new URLSearchParams(values),
      headers: { origin: url.origin, ...headers },
    });
  }

  async function token(parameters: Record<string, string>): Promise<{ status: number; body: TokenAnswer }> {
    const response = await fetch(endpoint('token'), {
      method: 'POST',
      body: new URLSearchParams({ client_id: identity.clientId, client_secret: identity.clientSecret, ...parameters }),
    });
    return { status: response.status, body: (await response.json()) as TokenAnswer };
  }

  async function signInAs(browser: CookieClient, username: string, password: string): Promise<TokenAnswer> {
    const page = await openSignIn(browser);
    const answer = await submit(browser, page.url, { username, password });
    if (!('callback' in answer)) throw new Error(await answer.page.response.text());
    const { status, body } = await token({
      grant_type: 'authorization_code',
      code: answer.callback.searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    });
    expect([status, body.error]).toEqual([200, undefined]);
    return body;
  }

  const claimsOf = (jwt: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

  it("names its endpoints by Keycloak's paths", async () => {
    const metadata = (await (await fetch(`${identity.issuerUrl}/.well-known/openid-configuration`)).json()) as Record<
      string,
      string
    >;
    expect(metadata).toMatchObject({
      issuer: identity.issuerUrl,
      authorization_endpoint: endpoint('auth'),
      token_endpoint: endpoint('token'),
      jwks_uri: endpoint('certs'),
      userinfo_endpoint: endpoint('userinfo'),
      end_session_endpoint: endpoint('logout'),
      introspection_endpoint: endpoint('token/introspect'),
      revocation_endpoint: endpoint('revoke'),
    });
  });

  it('signs the demo user in and says who it is, in the id token and at userinfo', async () => {
    const tokens = await signInAs(new CookieClient(), 'demo', 'demo');
    expect(claimsOf(tokens.id_token)).toMatchObject({
      iss: identity.issuerUrl,
      aud: identity.clientId,
      nonce: 'a-nonce',
      name: 'Demo Person',
      preferred_username: 'demo',
      email: 'demo@example.test',
    });
    const userinfo = await fetch(endpoint('userinfo'), { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await userinfo.json()).toMatchObject({ sub: claimsOf(tokens.id_token)['sub'], name: 'Demo Person' });
  });

  it('gives a code for one use, to the client with its secret and the verifier, at the registered address', async () => {
    const browser = new CookieClient();
    const page = await openSignIn(browser);
    const answer = await submit(browser, page.url, { username: 'demo', password: 'demo' });
    const code = 'callback' in answer ? (answer.callback.searchParams.get('code') ?? '') : '';
    const right = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier };
    expect((await token({ ...right, client_secret: 'wrong' })).body.error).toBe('invalid_client');
    expect((await token({ ...right, code_verifier: randomBytes(32).toString('base64url') })).body.error).toBe(
      'invalid_grant',
    );
    expect((await token(right)).status).toBe(200);
    expect((await token(right)).body.error).toBe('invalid_grant');
    expect(
      (await fetch(authorizationUrl({ redirect_uri: 'https://evil.example/' }), { redirect: 'manual' })).status,
    ).toBe(400);
    const plain = await fetch(authorizationUrl({ code_challenge_method: 'plain' }), { redirect: 'manual' });
    expect(plain.headers.get('location')).toContain('error=');
  });

  it('a restart signs no user out: the browser, its refresh token and the signing key stay', async () => {
    const browser = new CookieClient();
    const tokens = await signInAs(browser, 'demo', 'demo');
    const keys = await (await fetch(endpoint('certs'))).text();
    await identity.kill();
    await identity.start();
    expect(await (await fetch(endpoint('certs'))).text()).toBe(keys);
    expect((await token({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token })).status).toBe(200);
    expect('callback' in (await authorize(browser, authorizationUrl()))).toBe(true);
  });

  it('a refresh token works twice at the same time, and not after signing out', async () => {
    const browser = new CookieClient();
    const { refresh_token, id_token } = await signInAs(browser, 'demo', 'demo');
    const refresh = (): Promise<{ status: number; body: TokenAnswer }> =>
      token({ grant_type: 'refresh_token', refresh_token });
    const answers = await Promise.all(Array.from({ length: 5 }, refresh));
    expect(answers.map(({ status, body }) => [status, body.refresh_token])).toEqual(
      answers.map(() => [200, refresh_token]),
    );
    const page = await browser.send(
      `${endpoint('logout')}?${new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: `${APP}/` })}`,
    );
    const form = { url: new URL(endpoint('logout')), response: page };
    await expect(submitForm(browser, form, {})).rejects.toThrow('fetch failed');
    expect((await refresh()).body.error).toBe('invalid_grant');
    expect('page' in (await authorize(browser, authorizationUrl()))).toBe(true);
  });

  it('registers a user, who is signed in with it and can sign in again by name or e-mail', async () => {
    const browser = new CookieClient();
    const page = await openSignIn(browser);
    const user = { name: 'Ada <Byron>', email: 'ada@example.test', username: 'ada', password: 'correct horse' };
    const answer = await submit(browser, new URL(`${page.url.href}/register`), user);
    expect('callback' in answer).toBe(true);
    for (const name of ['ada', 'ADA', 'ada@example.test', 'Ada@Example.Test'])
      expect(claimsOf((await signInAs(new CookieClient(), name, user.password)).id_token)).toMatchObject({
        name: 'Ada <Byron>',
      });
  });

  it('says beside each field what is wrong with a registration, keeps what was typed but the password, and takes no name twice', async () => {
    const browser = new CookieClient();
    const page = await openSignIn(browser);
    const register = new URL(`${page.url.href}/register`);
    const refused = await submit(browser, register, {
      name: '"><script>alert(1)</script>',
      email: 'nothing',
      username: '-',
      password: 'short',
    });
    const html = 'page' in refused ? await refused.page.response.text() : '';
    for (const name of ['email', 'username', 'password']) expect(html).toContain(`id="${name}-error"`);
    expect(html).toContain('value="nothing"');
    expect(html).not.toContain('short"');
    expect(html).not.toContain('<script>alert');
    for (const [taken, sentence] of [
      [{ username: 'DEMO', email: 'new@example.test' }, 'This user name is taken'],
      [{ username: 'new', email: 'Demo@example.test' }, 'There is an account with this address'],
    ] as const) {
      const answer = await submit(browser, register, { name: 'New', password: 'long enough', ...taken });
      expect('page' in answer && [answer.page.response.status, await answer.page.response.text()]).toEqual([
        409,
        expect.stringContaining(sentence),
      ]);
    }
  });

  it('answers a wrong password as it answers an unknown name, and after five makes that name wait', async () => {
    const browser = new CookieClient();
    const page = await openSignIn(browser);
    const texts: string[] = [];
    for (const username of ['demo', 'nobody-of-that-name']) {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        const answer = await submit(browser, page.url, { username, password: 'wrong' });
        if (!('page' in answer)) throw new Error('signed in');
        expect(answer.page.response.status).toBe(401);
        texts.push(/role="alert">([^<]*)/.exec(await answer.page.response.text())?.[1] ?? '');
      }
      const limited = await submit(browser, page.url, { username: username.toUpperCase(), password: 'demo' });
      if (!('page' in limited)) throw new Error('signed in');
      expect([limited.page.response.status, limited.page.response.headers.get('retry-after')]).toEqual([429, '2']);
    }
    expect([...new Set(texts)]).toEqual(['The user name or the password is not right.']);
    await identity.kill();
    await identity.start();
  });

  it('takes a form only from the browser that opened it, and from no other site', async () => {
    const browser = new CookieClient();
    const page = await openSignIn(browser);
    const right = { username: 'demo', password: 'demo' };
    for (const [client, headers, status] of [
      [new CookieClient(), {}, 400],
      [browser, { origin: 'https://evil.example' }, 403],
      [browser, { origin: 'null' }, 403],
    ] as const) {
      const answer = await submit(client, page.url, right, headers);
      expect('page' in answer && answer.page.response.status).toBe(status);
    }
    const huge = await submit(browser, page.url, { ...right, more: 'a'.repeat(100_000) });
    expect('page' in huge && huge.page.response.status).toBe(413);
    const accepted = await submit(browser, page.url, right);
    expect('callback' in accepted || (await accepted.page.response.text())).toBe(true);
  });

  it('shows pages that no other site can frame and that run no script', async () => {
    const page = await openSignIn(new CookieClient());
    const html = await page.response.text();
    expect(html).toContain('<title>Sign in to Slipway</title>');
    expect(page.response.headers.get('content-security-policy')).toMatch(/script-src 'none'.*frame-ancestors 'none'/);
    // With `no-referrer` a browser sends its own forms as of the origin `null`, which we refuse.
    expect(page.response.headers.get('referrer-policy')).toBe('same-origin');
    for (const name of ['username', 'password']) expect(html).toContain(`<label for="${name}">`);
    expect(html).toContain('autocomplete="current-password"');
    expect((await fetch(`${identity.issuerUrl}/login/x/../../y`)).status).toBe(404);
    expect((await fetch(`${new URL(identity.issuerUrl).origin}/else`)).status).toBe(404);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  freePort,
  type SignedInClient,
  SigningIssuer,
  signIn,
  type TestDatabase,
} from '@slipway/testing';
import { DomainsModule } from '../../organizations/domains/domains.module.js';
import { startTestApp, type TestApp, testConfig } from '../../testing/test-app.js';
import { MeModule } from '../me/me.module.js';
import { SignInModule } from './sign-in.module.js';

describe('POST /oauth/backchannel-logout', () => {
  let database: TestDatabase;
  let issuer: SigningIssuer;
  let stranger: SigningIssuer;
  let server: TestApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    [issuer, stranger] = [await SigningIssuer.start(), await SigningIssuer.start()];
    server = await startTestApp(testConfig(await freePort(), database, issuer), {
      features: [SignInModule, DomainsModule.register(), MeModule],
    });
  });
  afterAll(async () => {
    await server?.close();
    await issuer?.close();
    await stranger?.close();
    await database?.close();
  });

  const post = async (
    token: string | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; cache: string | null }> => {
    const response = await fetch(`${server.url}/oauth/backchannel-logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: token === undefined ? '' : new URLSearchParams({ logout_token: token }).toString(),
    });
    await response.body?.cancel();
    return { status: response.status, cache: response.headers.get('cache-control') };
  };
  const user = (sub: string, sid: string): Promise<SignedInClient> => {
    issuer.user = { sub, name: sub, sid };
    return signIn(server.url);
  };
  const isIn = async (client: SignedInClient): Promise<boolean> => (await client.fetch('/api/v1/me')).status === 200;

  it('ends the session that the issuer names by its own, or every one of the user, and no other', async () => {
    const [one, two, other] = [await user('ada', 'sid-1'), await user('ada', 'sid-2'), await user('bob', 'sid-3')];
    expect(await post(issuer.logoutToken({ sid: 'sid-1' }))).toEqual({ status: 200, cache: 'no-store' });
    expect([await isIn(one), await isIn(two), await isIn(other)]).toEqual([false, true, true]);
    expect(await post(issuer.logoutToken({ sub: 'ada' }))).toEqual({ status: 200, cache: 'no-store' });
    expect([await isIn(two), await isIn(other)]).toEqual([false, true]);
  });

  it('answers the same token again, and one for a session that is not there, as done', async () => {
    const client = await user('carol', 'sid-4');
    const token = issuer.logoutToken({ sid: 'sid-4' });
    expect([await post(token), await isIn(client)]).toEqual([{ status: 200, cache: 'no-store' }, false]);
    const again = await user('carol', 'sid-5');
    expect([await post(token), await isIn(again)]).toEqual([{ status: 200, cache: 'no-store' }, true]);
    expect(await post(issuer.logoutToken({ sid: 'never-seen' }))).toEqual({ status: 200, cache: 'no-store' });
  });

  it('refuses whatever is no logout token of our issuer for us, and ends nothing for it', async () => {
    const client = await user('dora', 'sid-6');
    const named = { sub: 'dora', sid: 'sid-6' };
    const [header = '', payload = '', signature = ''] = issuer.logoutToken(named).split('.');
    const now = Math.floor(Date.now() / 1000);
    const none = Buffer.from('{"alg":"none","typ":"logout+jwt"}').toString('base64url');
    const forged: ReadonlyArray<readonly [string, string | undefined]> = [
      ['nothing', undefined],
      ['no token', 'hello'],
      ['another issuer’s', stranger.logoutToken({ ...named, iss: issuer.issuerUrl })],
      ['without a signature', `${none}.${payload}.`],
      ['with another signature', `${header}.${payload}.${signature.slice(0, -4)}AAAA`],
      ['for another client', issuer.logoutToken({ ...named, aud: 'somebody-else' })],
      ['of another issuer’s name', issuer.logoutToken({ ...named, iss: stranger.issuerUrl })],
      ['long over', issuer.logoutToken({ ...named, iat: now - 7_200, exp: now - 3_600 })],
      ['without its event', issuer.logoutToken({ ...named, events: {} })],
      ['with a nonce, as id tokens have', issuer.logoutToken({ ...named, nonce: 'n' })],
      ['of nobody', issuer.logoutToken({})],
      ['an id token', issuer.sign({ iss: issuer.issuerUrl, aud: issuer.clientId, iat: now, exp: now + 300, ...named })],
    ];
    for (const [what, token] of forged)
      expect([what, await post(token)]).toEqual([what, { status: 400, cache: 'no-store' }]);
    expect(await isIn(client)).toBe(true);
  });

  it('says that it cannot know while the issuer’s keys are not to be had, and takes the token when they are', async () => {
    const fresh = await SigningIssuer.start();
    const other = await startTestApp(testConfig(await freePort(), database, fresh), {
      features: [SignInModule, DomainsModule.register(), MeModule],
    });
    try {
      fresh.keysAnswer = false;
      const send = async (): Promise<number> =>
        (
          await fetch(`${other.url}/oauth/backchannel-logout`, {
            method: 'POST',
            body: new URLSearchParams({ logout_token: fresh.logoutToken({ sid: 'x' }) }),
          })
        ).status;
      expect(await send()).toBe(503);
      fresh.keysAnswer = true;
      expect(await send()).toBe(200);
    } finally {
      await other.close();
      await fresh.close();
    }
  });

  it('reads a form here and nowhere else', async () => {
    const client = await user('eve', 'sid-7');
    const elsewhere = await fetch(`${server.url}/api/logout`, {
      method: 'POST',
      headers: { cookie: client.cookie, origin: server.url, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'a=b',
    });
    expect([elsewhere.status, await elsewhere.json()]).toMatchObject([400, { code: 'request.not-json' }]);
    expect(await isIn(client)).toBe(true);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AppOfIssuer, comeBack, describeIssuer } from '@slipway/auth/testing';
import { CookieClient, type SignedInClient, signIn, stopwatch, until } from '@slipway/testing';
import { afterTest, describeUnless } from '@slipway/testing/jest';
import { whyNoKeycloak } from '@slipway/testing/keycloak';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../e2e/browser.ts';
import { describeGates } from './gates.ts';
import { ADA, IdentityWorld, realmFor } from './identity-world.ts';
import { describeSecondFactor } from './second-factor.ts';
import { describeTheme } from './theme.ts';
import { UserInChromium } from './user-in-chromium.ts';

const executable = findChromium();
const missing = await whyNoKeycloak((line) => console.log(line));
if (missing !== null) console.log(`Sign-in with the real Keycloak is not tested: ${missing}`);

/** Longer than an access token lasts. Milliseconds. */
const TOKEN_IS_DUE_MS = 301_000;

describeUnless(missing)('Keycloak', () => {
  let world: IdentityWorld;
  beforeAll(async () => {
    world = await IdentityWorld.open();
  });
  afterAll(() => world?.close());

  describeIssuer('Keycloak', async (appUrl) => {
    const admin = await world.keycloak.admin.makeRealm(realmFor('contract', appUrl));
    await admin.createUser(ADA);
    return {
      issuerUrl: world.issuerUrl('contract'),
      ...world.client,
      user: { ...ADA, name: `${ADA.firstName} ${ADA.lastName}` },
      kill: () => world.keycloak.kill(),
      start: () => world.keycloak.start(),
      close: async () => {},
    };
  });

  describe('a key that the realm no longer signs with', () => {
    it('is no longer believed, while people stay signed in and sign in with the new one at once', async () => {
      const app = await AppOfIssuer.listen();
      afterTest(() => app.close());
      const admin = await world.keycloak.admin.makeRealm(realmFor('rotation', app.url));
      await admin.createUser(ADA);
      const issuer = world.issuer(app.url, 'rotation');
      const signedIn = async () => {
        const { query, transaction } = await comeBack(app, issuer, ADA);
        return issuer.finish(query, transaction);
      };
      const keyOf = (token: string): string =>
        JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
      const first = await signedIn();
      const second = await signedIn();
      const stays = { idToken: first.tokens.idToken, refreshToken: first.tokens.refreshToken ?? '' };
      await admin.call('DELETE', `/sessions/${second.identity.issuerSession}`);
      const oldToken = await until('the issuer tells of it', () => app.logoutTokens[0]);
      expect(await issuer.verifyLogoutToken(oldToken)).toMatchObject({ issuerSession: second.identity.issuerSession });

      const [old] = (
        await admin.call<Array<{ id: string; name: string }>>('GET', '/components?type=org.keycloak.keys.KeyProvider')
      ).filter(({ name }) => name === 'rsa-generated');
      const config = {
        priority: ['200'],
        enabled: ['true'],
        active: ['true'],
        algorithm: ['RS256'],
        keySize: ['2048'],
      };
      await admin.call('POST', '/components', {
        name: 'rsa-next',
        providerId: 'rsa-generated',
        providerType: 'org.keycloak.keys.KeyProvider',
        config,
      });
      const renewed = await signedIn();
      expect(keyOf(renewed.tokens.idToken)).not.toBe(keyOf(first.tokens.idToken));
      expect(await issuer.refresh(stays)).not.toBe('refused');
      expect(await issuer.verifyLogoutToken(oldToken)).not.toBe('refused');

      await admin.call('DELETE', `/components/${old?.id}`);
      // A process that has not seen the old key; one that has believes it a minute longer.
      expect(await world.issuer(app.url, 'rotation').verifyLogoutToken(oldToken)).toBe('refused');
      expect(await issuer.refresh(stays)).not.toBe('refused');
    });
  });

  describeUnless(
    executable === null ? 'no Chromium on the PATH; install it (apt-get install chromium) or set CHROMIUM_PATH' : false,
  )('a user in Chromium', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium(executable ?? '');
    });
    afterAll(() => browser?.close());

    let user: UserInChromium;
    afterEach(() => user?.close());
    const open = async (url = `${world.url}/oauth/login?redirect=/api/v1/me`): Promise<Page> => {
      user = await UserInChromium.at(browser, url);
      return user.page;
    };
    const me = (): Promise<{ id: string; name: string; email: string | null }> => user.json(`${world.url}/api/v1/me`);

    describeGates(
      () => world,
      () => browser,
    );
    describeSecondFactor(
      () => world,
      () => browser,
    );
    describeTheme(
      () => world,
      () => browser,
    );

    it('registers and comes back signed in; after a sign-out the issuer asks for the password again', async () => {
      const page = await open();
      await user.register({
        username: 'mary',
        password: 'correct horse',
        email: 'mary@example.test',
        firstName: 'Mary',
        lastName: 'Somerville',
      });
      expect(await me()).toMatchObject({ name: 'Mary Somerville', email: 'mary@example.test' });
      const logoutUrl = await page.evaluate(
        async () =>
          ((await (await fetch('/api/logout', { method: 'POST' })).json()) as { logoutUrl: string }).logoutUrl,
      );
      await page.goto(logoutUrl);
      expect(page.url()).toBe(`${world.url}/`);
      await page.goto(`${world.url}/oauth/login?redirect=/api/v1/me`);
      await user.fill({ username: 'mary', password: 'wrong' });
      await page.getByText('Invalid username or password.').waitFor();
      await user.fill({ username: 'mary', password: 'correct horse' });
      expect(await me()).toMatchObject({ name: 'Mary Somerville' });
    });

    /** From the realm's page to the company's, and in as this user of the company's. */
    async function chooseCompany(values: Readonly<Record<string, string>>): Promise<void> {
      const { page } = user;
      await page.getByRole('link', { name: 'Company account' }).click();
      await page.waitForURL(`${new URL(world.company.issuerUrl).origin}/**`);
      if (values['email'] !== undefined) await page.getByRole('link', { name: /create/i }).click();
      await user.fill(values);
      await page.waitForURL((url) => url.origin !== new URL(world.company.issuerUrl).origin);
    }

    it('comes by the company’s own issuer, as an unknown user; its token is stored for them and can be read', async () => {
      const issuer = world.issuer();
      const { url, transaction } = await issuer.begin();
      const page = await open(url);
      await page.route(`${world.url}/oauth/keycloak/callback**`, (route) =>
        route.fulfill({ body: 'back', contentType: 'text/plain' }),
      );
      await chooseCompany({
        name: 'Grace Hopper',
        email: 'grace@example.test',
        username: 'grace',
        password: 'correct horse',
      });
      // Its issuer knows one name, and the realm wants two.
      if (!page.url().startsWith(world.url)) await user.fill({ firstName: 'Grace', lastName: 'Hopper' });
      await page.waitForURL(`${world.url}/oauth/keycloak/callback**`);
      const { identity, tokens } = await issuer.finish(new URL(page.url()).search.slice(1), transaction);
      expect(identity).toMatchObject({
        name: 'Grace Hopper',
        email: 'grace@example.test',
        emailVerified: true,
        provider: 'company',
      });
      const stored = await issuer.providerToken(tokens.accessToken, 'company');
      const userinfo = await fetch(`${world.company.issuerUrl}/protocol/openid-connect/userinfo`, {
        headers: { authorization: `Bearer ${stored?.accessToken}` },
      });
      expect(await userinfo.json()).toMatchObject({ email: 'grace@example.test' });
    });

    it('who comes with the e-mail address of an account has to confirm that it is theirs, and is then that user', async () => {
      const known = {
        username: 'demo-here',
        password: 'correct horse',
        firstName: 'Demo',
        lastName: 'Person',
        email: 'demo@example.test',
      };
      const id = await world.keycloak.admin.createUser(known);
      const links = () => world.keycloak.admin.call<unknown[]>('GET', `/users/${id}/federated-identity`);
      const before_ = (await signIn(world.url, known)).me.id;
      const page = await open();
      await chooseCompany({ username: 'demo', password: 'demo' });
      if ((await page.locator('input[name="lastName"]').count()) > 0)
        await user.fill({ firstName: 'Demo', lastName: 'Person' });
      await page.getByRole('heading', { name: 'Account already exists' }).waitFor();
      expect(await links()).toEqual([]);
      await page.getByRole('button', { name: 'Add to existing account' }).click();
      await user.fill({ password: 'wrong' });
      await page.getByText('Invalid password').or(page.getByText('Invalid username or password.')).first().waitFor();
      expect(await links()).toEqual([]);
      await user.fill({ password: 'correct horse' });
      expect(await me()).toMatchObject({ id: before_, email: 'demo@example.test' });
      expect(await links()).toMatchObject([{ identityProvider: 'company' }]);
      await user.close();
      await open();
      await chooseCompany({ username: 'demo', password: 'demo' });
      expect(await me()).toMatchObject({ id: before_ });
      const kept = await until('app-server has taken over the company’s token', async () => {
        const rows = await world.query<{ provider: string; sealed: string }>(
          `SELECT provider, row_to_json(t)::text AS sealed FROM app.provider_token t WHERE user_id = '${before_}'`,
        );
        return rows.length > 0 && rows;
      });
      expect(kept.map(({ provider }) => provider)).toEqual(['company']);
      expect(kept[0]?.sealed).not.toMatch(/access_?token"?:|eyJ/i);
    });
  });

  describe('a signed-in user', () => {
    const works = async (user: SignedInClient): Promise<boolean> => (await user.fetch('/api/v1/me')).status === 200;
    const sessionsOf = async (username: string): Promise<Array<{ id: string }>> => {
      const [user] = await world.keycloak.admin.call<Array<{ id: string }>>(
        'GET',
        `/users?username=${username}&exact=true`,
      );
      return world.keycloak.admin.call('GET', `/users/${user?.id}/sessions`);
    };

    it('stays signed in as long as the realm renews their tokens, and no longer', async () => {
      const user = await signIn(world.url, ADA);
      world.clock.advance(TOKEN_IS_DUE_MS);
      expect(await works(user)).toBe(true);
      const token = await world.keycloak.admin.call<Array<{ id: string }>>(
        'GET',
        `/users?username=${ADA.username}&exact=true`,
      );
      await world.keycloak.admin.call('POST', `/users/${token[0]?.id}/logout`);
      world.clock.advance(TOKEN_IS_DUE_MS);
      await until('the session is over', async () => !(await works(user)));
    });

    it('is signed out when the realm ends that session, by the back channel, and only of that one', async () => {
      const [here, elsewhere] = [await signIn(world.url, ADA), await signIn(world.url, ADA)];
      const [, last] = await sessionsOf(ADA.username);
      expect([await works(here), await works(elsewhere)]).toEqual([true, true]);
      await world.keycloak.admin.call('DELETE', `/sessions/${last?.id}`);
      const ended = await until(
        'one of them is signed out',
        async () => [await works(here), await works(elsewhere)].filter((still) => !still).length > 0,
        2_000,
      );
      expect(ended).toBe(true);
      expect([await works(here), await works(elsewhere)].filter((still) => still)).toHaveLength(1);
    });

    it('works on while Keycloak is away; who wants to sign in reads why not; both as before within five seconds of its return', async () => {
      const user = await signIn(world.url, ADA);
      await world.keycloak.kill();
      for (const _ of [1, 2]) {
        world.clock.advance(TOKEN_IS_DUE_MS);
        expect(await works(user)).toBe(true);
      }
      await until(
        'the outage is seen',
        async () =>
          (await new CookieClient().send(`${world.url}/oauth/login`, { headers: { accept: 'text/html' } })).status ===
          503,
      );
      const answer = await new CookieClient().send(`${world.url}/oauth/login`, { headers: { accept: 'text/html' } });
      expect(await answer.text()).toMatch(/<h1>The sign-in service does not answer<\/h1>.*people already signed in/s);
      await world.keycloak.start();
      // It is back when it gives a token: the first ones of a cold Keycloak are its own time.
      expect((await world.tokenOfService()).status).toBe(200);
      const passed = stopwatch();
      world.clock.advance(TOKEN_IS_DUE_MS);
      expect(await works(user)).toBe(true);
      expect((await new CookieClient().send(`${world.url}/oauth/login`)).status).toBe(302);
      expect(passed()).toBeLessThan(5_000);
      expect((await signIn(world.url, ADA)).me.id).toBe(user.me.id);
    });
  });
});

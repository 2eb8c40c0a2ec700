import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { CookieClient, submitForm, until } from '@slipway/testing';
import { describeUnless, fakeDate } from '@slipway/testing/jest';
import { type Identity, OidcIssuer, type Tokens } from '../oidc-issuer.js';
import { AppOfIssuer, comeBack, passIssuer } from './app-of-issuer.js';

export interface IssuerUnderTest {
  readonly issuerUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A user who can sign in there. */
  readonly user: {
    readonly username: string;
    readonly password: string;
    readonly name: string;
    readonly email: string;
  };
  /** Ends it without a word, and the same again on the same data. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const FAILED = { code: 'auth.sign-in-failed' };
const UNAVAILABLE = { code: 'auth.unavailable' };
const FIVE_MINUTES_MS = 300_000;

/**
 * What `OidcIssuer` promises of every issuer that Slipway is put behind. @param open gets the address of the app that
 * the issuer's client is.
 */
export function describeIssuer(
  name: string,
  open: (appUrl: string) => Promise<IssuerUnderTest>,
  skip: string | false = false,
): void {
  describeUnless(skip)(`issuer: ${name}`, () => {
    let app: AppOfIssuer;
    let under: IssuerUnderTest;
    let issuer: OidcIssuer;
    beforeAll(async () => {
      app = await AppOfIssuer.listen();
      under = await open(app.url);
      issuer = client();
    });
    afterAll(async () => {
      await under?.close();
      await app?.close();
    });

    /** One that knows nothing yet, as after a restart. */
    const client = (): OidcIssuer =>
      new OidcIssuer({
        issuerUrl: under.issuerUrl,
        clientId: under.clientId,
        clientSecret: under.clientSecret,
        redirectUri: app.redirectUri,
      });

    async function signedIn(
      browser = new CookieClient(),
    ): Promise<{ identity: Identity; tokens: Tokens & { refreshToken: string } }> {
      const { query, transaction } = await comeBack(app, issuer, under.user, browser);
      const { identity, tokens } = await issuer.finish(query, transaction);
      if (tokens.refreshToken === null) throw new Error('no refresh token');
      return { identity, tokens: { ...tokens, refreshToken: tokens.refreshToken } };
    }

    /** By the issuer's own page, as a user's browser does. */
    async function signOut(idToken: string, browser: CookieClient): Promise<URL> {
      const page = await browser.follow((await issuer.endSessionUrl(idToken, app.url)) ?? '', {
        headers: { accept: 'text/html' },
      });
      if (page.url.origin === new URL(app.url).origin) return page.url;
      return (await submitForm(browser, page, {})).url;
    }

    it('signs a user in by code and PKCE, and says who it is and in which session of the issuer', async () => {
      const browser = new CookieClient();
      const first = await signedIn(browser);
      const { authenticatedAt, ...identity } = first.identity;
      expect(authenticatedAt === null || Math.abs(Date.now() - authenticatedAt.getTime()) < 60_000).toBe(true);
      expect(identity).toEqual({
        issuer: under.issuerUrl,
        subject: expect.stringMatching(/./),
        name: under.user.name,
        email: under.user.email,
        emailVerified: true,
        issuerSession: expect.stringMatching(/./),
        provider: null,
        secondFactor: false,
      });
      expect(first.tokens.accessSeconds).toBeGreaterThan(30);
      const [again, elsewhere] = [await signedIn(browser), await signedIn()];
      expect(again.identity).toEqual(first.identity);
      expect(elsewhere.identity.subject).toBe(first.identity.subject);
      expect(elsewhere.identity.issuerSession).not.toBe(first.identity.issuerSession);
    });

    it('is refused without PKCE, and with another method than S256', async () => {
      for (const method of [null, 'plain']) {
        const { url, transaction } = await issuer.begin();
        const without = new URL(url);
        without.searchParams.delete('code_challenge_method');
        if (method === null) without.searchParams.delete('code_challenge');
        else without.searchParams.set('code_challenge_method', method);
        const query = await passIssuer(app, without.href, under.user, new CookieClient());
        expect(Object.fromEntries(new URLSearchParams(query))).toMatchObject({
          error: 'invalid_request',
          state: transaction.state,
        });
        await expect(issuer.finish(query, transaction)).rejects.toMatchObject(FAILED);
      }
    });

    it('does not finish with another verifier, nonce or state, nor with a code that was used', async () => {
      const browser = new CookieClient();
      const other = (await issuer.begin()).transaction;
      for (const change of ['verifier', 'nonce', 'state'] as const) {
        const { query, transaction } = await comeBack(app, issuer, under.user, browser);
        await expect(issuer.finish(query, { ...transaction, [change]: other[change] })).rejects.toMatchObject(FAILED);
      }
      const { query, transaction } = await comeBack(app, issuer, under.user, browser);
      await issuer.finish(query, transaction);
      await expect(issuer.finish(query, transaction)).rejects.toMatchObject(FAILED);
    });

    it('renews tokens, and five at once end nothing', async () => {
      const { tokens } = await signedIn();
      const answers = await Promise.all(Array.from({ length: 5 }, () => issuer.refresh(tokens)));
      for (const answer of answers) {
        expect(answer).toMatchObject({
          accessToken: expect.stringMatching(/./),
          refreshToken: expect.stringMatching(/./),
        });
        expect((answer as Tokens).accessToken).not.toBe(tokens.accessToken);
      }
      expect(await issuer.refresh(tokens)).toMatchObject({ accessSeconds: expect.any(Number) });
    });

    it('leads the browser to the end of its session, which refuses further renewal and reported by a logout token', async () => {
      const browser = new CookieClient();
      const { identity, tokens } = await signedIn(browser);
      const stays = await signedIn();
      const heard = app.logoutTokens.length;
      expect((await signOut(tokens.idToken, browser)).href).toBe(app.url);
      expect(await issuer.refresh(tokens)).toBe('refused');
      expect(await issuer.refresh(stays.tokens)).not.toBe('refused');

      const logoutToken = await until('the issuer tells of it', () => app.logoutTokens[heard]);
      const token = await issuer.verifyLogoutToken(logoutToken);
      expect(token).toMatchObject({
        issuer: under.issuerUrl,
        issuerSession: identity.issuerSession,
        tokenId: expect.stringMatching(/./),
        expiresAt: expect.any(Date),
      });
      if (token !== 'refused' && token.subject !== null) expect(token.subject).toBe(identity.subject);
      const [header = '', payload = '', signature = ''] = logoutToken.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
      const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      for (const forged of [
        `${header}.${encoded({ ...claims, sid: stays.identity.issuerSession })}.${signature}`,
        `${encoded({ alg: 'none' })}.${payload}.`,
        `${header}.${payload}`,
        tokens.idToken,
        tokens.accessToken,
        '',
      ])
        expect(await issuer.verifyLogoutToken(forged)).toBe('refused');
    });

    it('works with clocks that are five minutes apart, either way', async () => {
      const now = Date.now();
      for (const offset of [-FIVE_MINUTES_MS, FIVE_MINUTES_MS]) {
        fakeDate(now + offset);
        const browser = new CookieClient();
        const { tokens } = await signedIn(browser);
        expect(await issuer.refresh(tokens)).not.toBe('refused');
        const heard = app.logoutTokens.length;
        await signOut(tokens.idToken, browser);
        const logoutToken = await until('the issuer tells of it', () => app.logoutTokens[heard]);
        expect(await issuer.verifyLogoutToken(logoutToken)).not.toBe('refused');
      }
    });

    it('has no stored provider token for a user with a password of its own', async () => {
      const { tokens } = await signedIn();
      expect(await issuer.providerToken(tokens.accessToken, 'github')).toBeNull();
      expect(await issuer.providerToken(tokens.accessToken, '../../admin')).toBeNull();
    });

    it('while it is down nothing is refused, a new sign-in does not begin, and after its return everything works at once', async () => {
      const { tokens } = await signedIn();
      const waiting = await comeBack(app, issuer, under.user);
      await under.kill();
      await expect(issuer.refresh(tokens)).rejects.toMatchObject(UNAVAILABLE);
      await expect(issuer.finish(waiting.query, waiting.transaction)).rejects.toMatchObject(UNAVAILABLE);
      await expect(issuer.providerToken(tokens.accessToken, 'github')).rejects.toMatchObject(UNAVAILABLE);
      await until(
        'a sign-in does not begin',
        async () => (await issuer.begin().catch((error: unknown) => error)) instanceof Error,
      );
      const fresh = client();
      await expect(fresh.begin()).rejects.toMatchObject(UNAVAILABLE);
      await expect(fresh.refresh(tokens)).rejects.toMatchObject(UNAVAILABLE);
      await expect(fresh.verifyLogoutToken(tokens.idToken)).rejects.toMatchObject(UNAVAILABLE);
      expect(await fresh.endSessionUrl(tokens.idToken, app.url)).toBeNull();

      await under.start();
      expect(await issuer.refresh(tokens)).not.toBe('refused');
      await signedIn();
      expect((await fresh.begin()).url).toContain(under.issuerUrl);
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CookieClient, type IdentityServer, oneTimeCode, startIdentityServer, submitForm } from '@slipway/testing';
import { type Identity, OidcIssuer, type SignInOptions } from './oidc-issuer.js';
import { AppOfIssuer } from './testing/index.js';

/** A page that a browser has come to. */
type Shown = Awaited<ReturnType<CookieClient['follow']>>;

const DEMO = { username: 'demo', password: 'demo' };
const REFUSED = /the form at .* was refused: This code is not right/;

/** The same that tests/identity asks of Keycloak's realm. */
describe('second factor of the embedded issuer', () => {
  let app: AppOfIssuer;
  let under: IdentityServer;
  let issuer: OidcIssuer;
  beforeAll(async () => {
    app = await AppOfIssuer.listen();
    under = await startIdentityServer(app.url);
    issuer = new OidcIssuer({
      issuerUrl: under.issuerUrl,
      clientId: under.clientId,
      clientSecret: under.clientSecret,
      redirectUri: app.redirectUri,
    });
  });
  afterAll(async () => {
    await under?.close();
    await app?.close();
  });

  /** A sign-in by the pages of the issuer. `steps` begins at the page after the password. */
  async function signIn(
    options: SignInOptions,
    steps: (page: Shown, browser: CookieClient) => Promise<Shown>,
    browser = new CookieClient(),
  ): Promise<Identity> {
    const { url, transaction } = await issuer.begin(options);
    const page = await steps(await submitForm(browser, await browser.follow(url), DEMO), browser);
    if (!page.url.href.startsWith(app.redirectUri))
      throw new Error(`ended at ${page.url.href}: ${await page.response.text()}`);
    return (await issuer.finish(page.url.search.slice(1), transaction)).identity;
  }
  const plainly = async (page: Shown): Promise<Shown> => page;
  const byCode =
    (code: () => string) =>
    (page: Shown, browser: CookieClient): Promise<Shown> =>
      submitForm(browser, page, { code: code() });
  /** The page's text, which can be read again by who submits its form. */
  async function textOf(page: Shown): Promise<{ html: string; page: Shown }> {
    const html = await page.response.text();
    return { html, page: { url: page.url, response: new Response(html, { status: page.response.status }) } };
  }
  const secretOn = (html: string): string => /id="secret">([A-Z2-7 ]+)</.exec(html)?.[1] ?? '';
  const recoveryCodesOn = (html: string): string[] =>
    [...html.matchAll(/<li><code>([A-Z2-7-]+)</g)].map(([, code]) => code ?? '');
  async function setUp(
    shown: Shown,
    browser: CookieClient,
  ): Promise<{ page: Shown; secret: string; recovery: string[] }> {
    const { html, page } = await textOf(shown);
    const secret = secretOn(html);
    expect(html).toContain('<svg role="img"');
    const codes = await textOf(await submitForm(browser, page, { code: oneTimeCode(secret) }));
    return { page: await submitForm(browser, codes.page, {}), secret, recovery: recoveryCodesOn(codes.html) };
  }

  let made: { secret: string; recovery: string[] } = { secret: '', recovery: [] };

  it('is set up by who has none when a sign-in wants it; from then on each sign-in asks for it and says so, and each code counts once', async () => {
    const browser = new CookieClient();
    expect((await signIn({}, plainly, browser)).secondFactor).toBe(false);

    // A browser that is signed in without it is asked too.
    const first = await signIn(
      { secondFactor: true },
      async (page) => {
        const tried = await textOf(page);
        await expect(submitForm(browser, tried.page, { code: '000000' })).rejects.toThrow(REFUSED);
        const { page: end, ...rest } = await setUp(await browser.follow(page.url), browser);
        made = rest;
        return end;
      },
      browser,
    );
    expect(first.secondFactor).toBe(true);
    expect(new Set(made.recovery).size).toBe(10);

    await under.kill();
    await under.start();
    const code = oneTimeCode(made.secret, 1);
    expect(
      (
        await signIn(
          {},
          byCode(() => code),
        )
      ).secondFactor,
    ).toBe(true);
    // The same again, an earlier one, none, and a password that an attacker may have.
    for (const used of [code, oneTimeCode(made.secret), '', '12345', 'demo'])
      await expect(
        signIn(
          {},
          byCode(() => used),
        ),
      ).rejects.toThrow(REFUSED);
  });

  it('has recovery codes, each good for one sign-in, by one of which who has lost the app sets up another; what was before is then no good', async () => {
    // Earlier wrong codes delay no user after a restart.
    await under.kill();
    await under.start();
    const [recovery = '', next = ''] = made.recovery;
    const typed = recovery.toLowerCase().replace('-', ' ');
    const recovered = async (page: Shown, client: CookieClient): Promise<Shown> => {
      const answer = await textOf(await submitForm(client, page, { code: typed }));
      expect(answer.html).toContain('9 of your recovery codes are left');
      return submitForm(client, answer.page, {});
    };
    expect((await signIn({}, recovered)).secondFactor).toBe(true);
    await expect(
      signIn(
        {},
        byCode(() => typed),
      ),
    ).rejects.toThrow(REFUSED);

    let again = { secret: '', recovery: [''] };
    await signIn({}, async (page, client) => {
      const answer = await submitForm(client, page, { code: next });
      const { page: end, ...rest } = await setUp(
        await client.follow(new URL(answer.url.href.replace(/recovered$/, 'set-up'))),
        client,
      );
      again = rest;
      return end;
    });
    for (const old of [made.recovery[2] ?? '', oneTimeCode(made.secret, 1)])
      await expect(
        signIn(
          {},
          byCode(() => old),
        ),
      ).rejects.toThrow(REFUSED);
    expect(
      (
        await signIn(
          { prompt: 'login', secondFactor: true },
          byCode(() => oneTimeCode(again.secret, 1)),
        )
      ).secondFactor,
    ).toBe(true);
  });

  it('no step is reached but by the one before, and guessing is slow', async () => {
    const stranger = new CookieClient();
    const { url } = await issuer.begin();
    const form = await stranger.follow(url);
    for (const step of ['code', 'set-up', 'recovered', 'continue'])
      for (const method of ['GET', 'POST'])
        expect(
          (
            await stranger.follow(`${form.url.href}/${step}`, {
              method,
              ...(method === 'POST' ? { body: new URLSearchParams({ code: '1' }) } : {}),
            })
          ).url.href,
        ).toBe(form.url.href);
    const asked = await submitForm(stranger, form, DEMO);
    for (const step of ['set-up', 'recovered', 'continue'])
      expect(
        (
          await stranger.follow(`${form.url.href}/${step}`, {
            method: 'POST',
            body: new URLSearchParams({ code: '1' }),
          })
        ).url.href,
      ).toBe(form.url.href);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1)
      statuses.push(
        (await stranger.send(asked.url, { method: 'POST', body: new URLSearchParams({ code: '000000' }) })).status,
      );
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });
});

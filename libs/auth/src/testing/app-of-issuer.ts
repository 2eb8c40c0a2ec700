import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CookieClient, submitForm } from '@slipway/testing';
import type { OidcIssuer, SignInTransaction } from '../oidc-issuer.js';

const HOME_PAGE = '<!doctype html><title>The app</title><h1>The app</h1>';

/**
 * The client of an issuer, as far as the issuer sees one: the page that browsers come back to, and the route that hears
 * of ended sessions.
 */
export class AppOfIssuer {
  /** `logout_token` of every POST to `/oauth/backchannel-logout`, in order. */
  readonly logoutTokens: string[] = [];
  /** Where those POSTs go on to, with what it answers as the answer. */
  forwardTo: string | undefined;

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<AppOfIssuer> {
    const server = createServer();
    const app = new AppOfIssuer(server);
    server.on('request', (request, response) => {
      if (request.method !== 'POST')
        return void response.writeHead(200, { 'content-type': 'text/html' }).end(HOME_PAGE);
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        app.logoutTokens.push(new URLSearchParams(body).get('logout_token') ?? '');
        app.answerTo(request.url ?? '/', body).then(
          (status) => response.writeHead(status).end(),
          () => response.writeHead(502).end(),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return app;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  get redirectUri(): string {
    return new URL('/oauth/keycloak/callback', this.url).href;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answerTo(path: string, body: string): Promise<number> {
    if (this.forwardTo === undefined) return 200;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return (
      await fetch(new URL(path, this.forwardTo), { method: 'POST', body, headers, signal: AbortSignal.timeout(10_000) })
    ).status;
  }
}

/**
 * Goes to the issuer with this address and signs in there where it asks. @returns the query that the browser brought
 * back.
 */
export async function passIssuer(
  app: AppOfIssuer,
  url: string,
  user: { username: string; password: string },
  browser: CookieClient,
): Promise<string> {
  let page = await browser.follow(url, { headers: { accept: 'text/html' } });
  for (let forms = 0; page.url.origin !== new URL(app.url).origin && forms < 3; forms += 1)
    page = await submitForm(browser, page, { username: user.username, password: user.password });
  if (page.url.href.split('?')[0] !== app.redirectUri)
    throw new Error(
      `ended at ${page.url.href} (${page.response.status}): ${(await page.response.text()).slice(0, 2_000)}`,
    );
  return page.url.search.slice(1);
}

/** A user at the issuer and back, as far as the query that `finish` takes. */
export async function comeBack(
  app: AppOfIssuer,
  issuer: OidcIssuer,
  user: { username: string; password: string },
  browser = new CookieClient(),
): Promise<{ query: string; transaction: SignInTransaction }> {
  const { url, transaction } = await issuer.begin();
  return { query: await passIssuer(app, url, user, browser), transaction };
}

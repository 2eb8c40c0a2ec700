import { Me } from '@slipway/contracts/organizations';
import { CookieClient } from './cookie-client.js';

export interface SignedInClient {
  /** The `Cookie` header of a signed-in browser, for sockets too. */
  readonly cookie: string;
  readonly me: Me;
  /**
   * A request to the app with the cookie and the `Origin` of its own pages. A plain object as `json` is sent as the
   * body.
   */
  fetch(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response>;
}

/**
 * Signs a user in as a browser does: opens `/oauth/login`, fills in the issuer's form (embedded-identity's, or
 * Keycloak's one or two pages) and comes back with a session.
 * @param appUrl `PUBLIC_URL` of app-server.
 * @throws Error that shows the page where it stopped.
 */
export async function signIn(
  appUrl: string,
  user: { username: string; password: string } = { username: 'demo', password: 'demo' },
  browser = new CookieClient(),
): Promise<SignedInClient> {
  const app = new URL(appUrl);
  let page = await browser.follow(new URL('/oauth/login?redirect=/api/v1/me', app), {
    headers: { accept: 'text/html, application/json' },
  });
  for (let forms = 0; page.url.origin !== app.origin && forms < 3; forms += 1)
    page = await submitForm(browser, page, { username: user.username, password: user.password });
  const text = await page.response.text();
  if (page.response.status !== 200 || page.url.pathname !== '/api/v1/me')
    throw new Error(
      `the sign-in ended at ${page.url.origin}${page.url.pathname} with ${page.response.status}: ${text.slice(0, 2_000)}`,
    );
  const cookie = browser.cookieHeader(new URL('/api', app));
  return {
    cookie,
    me: Me.parse(JSON.parse(text)),
    fetch: (path, { json, ...init } = {}) =>
      fetch(new URL(path, app), {
        signal: AbortSignal.timeout(30_000),
        ...init,
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        headers: {
          cookie,
          origin: app.origin,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...Object.fromEntries(new Headers(init.headers)),
        },
      }),
  };
}

/**
 * Sends the first form of a page with these values beside its hidden ones, and follows where it leads. @throws Error
 * when there is no form, or the answer is the form again.
 */
export async function submitForm(
  browser: CookieClient,
  page: { url: URL; response: Response },
  values: Readonly<Record<string, string>>,
): Promise<{ url: URL; response: Response }> {
  const html = await page.response.text();
  const form = /<form\b[^>]*>/i.exec(html)?.[0];
  if (form === undefined)
    throw new Error(`no form at ${page.url.href} (${page.response.status}): ${html.slice(0, 2_000)}`);
  const body = new URLSearchParams();
  for (const [input] of html.matchAll(/<input\b[^>]*>/gi)) {
    const name = attributeOf(input, 'name');
    if (name === undefined) continue;
    const value =
      values[name] ?? (attributeOf(input, 'type') === 'hidden' ? (attributeOf(input, 'value') ?? '') : undefined);
    if (value !== undefined) body.set(name, value);
  }
  const action = new URL(attributeOf(form, 'action') ?? '', page.url);
  const next = await browser.follow(action, {
    method: 'POST',
    body,
    headers: { origin: action.origin, accept: 'text/html, application/json' },
  });
  if (next.response.status === 401 && next.url.href === action.href)
    throw new Error(
      `the form at ${action.href} was refused: ${/role="alert">([^<]*)/.exec(await next.response.text())?.[1] ?? ''}`,
    );
  return next;
}

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(tag)?.[1];
  return value?.replace(/&amp;/g, '&').replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

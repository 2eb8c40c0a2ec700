/**
 * A browser's way with cookies and redirects, for tests: one jar of a host (cookies know no ports), redirects followed
 * by GET.
 */
export class CookieClient {
  private readonly jar = new Map<string, Map<string, { value: string; path: string }>>();

  /** One request with the jar's cookies. Redirects are not followed. */
  async send(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    const cookie = this.cookieHeader(target);
    if (cookie !== '' && !headers.has('cookie')) headers.set('cookie', cookie);
    const response = await fetch(target, { signal: AbortSignal.timeout(30_000), ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.store(target, line);
    return response;
  }

  /** Follows redirects to the page that they end at. @throws Error after 20 of them. */
  async follow(url: string | URL, init: RequestInit = {}): Promise<{ url: URL; response: Response }> {
    let target = new URL(url);
    let response = await this.send(target, init);
    for (let hops = 0; response.status >= 300 && response.status < 400; hops += 1) {
      const location = response.headers.get('location');
      if (location === null || hops === 20) throw new Error(`redirected ${hops} times, last by ${target.href}`);
      await response.body?.cancel();
      target = new URL(location, target);
      response = await this.send(target, {
        ...(init.headers === undefined ? {} : { headers: withoutBody(init.headers) }),
      });
    }
    return { url: target, response };
  }

  /** The `Cookie` header that a browser would send there. */
  cookieHeader(url: URL): string {
    return [...(this.jar.get(url.hostname) ?? [])]
      .filter(
        ([, { path }]) => url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`),
      )
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  private store(url: URL, line: string): void {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const at = pair.indexOf('=');
    const attribute = (name: string): string | undefined =>
      attributes.find((entry) => entry.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
    const cookies = this.jar.get(url.hostname) ?? new Map();
    this.jar.set(url.hostname, cookies);
    const expires = attribute('expires');
    const gone = attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now());
    if (gone) cookies.delete(pair.slice(0, at));
    else cookies.set(pair.slice(0, at), { value: pair.slice(at + 1), path: attribute('path') ?? '/' });
  }
}

function withoutBody(given: NonNullable<RequestInit['headers']>): Headers {
  const headers = new Headers(given);
  for (const name of ['content-type', 'content-length', 'origin']) headers.delete(name);
  return headers;
}

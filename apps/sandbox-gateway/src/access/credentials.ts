import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SANDBOX_TOKEN_PREFIX } from '@slipway/auth/sandbox-access';
import { SlipwayError } from '@slipway/errors';
import type { SandboxAddress } from '../routing/address.js';

export interface Credential {
  readonly token: string;
  /**
   * `cookie`: the browser sends it by itself, so another site's page may be behind the request. `header`: whoever sent
   * it knows it.
   */
  readonly from: 'cookie' | 'header';
}

/** Name of the cookie on one origin; with `__Host-` no page of another host can set it. */
export function accessCookieName(secure: boolean): string {
  return secure ? '__Host-slipway_sandbox' : 'slipway_sandbox';
}

/** Our token in the headers of a request: it begins so, or it is meant for the sandbox. */
export function headerToken(headers: IncomingHttpHeaders): string | null {
  const key = headers['x-session-api-key'];
  if (typeof key === 'string' && key.startsWith(SANDBOX_TOKEN_PREFIX)) return key;
  const bearer = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
  return bearer?.startsWith(SANDBOX_TOKEN_PREFIX) === true ? bearer : null;
}

/**
 * Credential of a request, or `null`. A header goes before the cookie; by path there is no cookie, since all sandboxes
 * share the origin.
 * @throws SlipwayError `request.invalid` for a token in the URL: it would be in the logs of everything that it passes.
 */
export function credentialOf(request: IncomingMessage, address: SandboxAddress, cookieName: string): Credential | null {
  if (request.url?.includes(SANDBOX_TOKEN_PREFIX) === true)
    throw new SlipwayError(
      'request.invalid',
      'A token must not be in the URL: send it as Authorization: Bearer or X-Session-API-Key.',
    );
  const header = headerToken(request.headers);
  if (header !== null) return { token: header, from: 'header' };
  const cookie =
    address.way === 'host' ? cookiesOf(request.headers.cookie).find(([name]) => name === cookieName)?.[1] : undefined;
  return cookie === undefined || cookie === '' ? null : { token: cookie, from: 'cookie' };
}

/** The cookies of a header in their order, names and values as they stand. */
export function cookiesOf(header: string | undefined): Array<readonly [name: string, value: string]> {
  return (header ?? '').split(';').flatMap((part) => {
    const text = part.trim();
    const cut = text.indexOf('=');
    return text === ''
      ? []
      : [cut === -1 ? (['', text] as const) : ([text.slice(0, cut).trim(), text.slice(cut + 1).trim()] as const)];
  });
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another origin's page makes with the cookie of this browser. Sandboxes are each other's neighbours on
 * one site, so `SameSite` does not separate them; the origin does. Following a link into a sandbox is the one thing
 * that other pages may cause.
 * @throws SlipwayError `request.cross-site`
 */
export function assertOwnOrigin(request: IncomingMessage, ownOrigin: string, kind: 'request' | 'upgrade'): void {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = request.headers;
  const safe = SAFE_METHODS.has(request.method ?? '');
  if (kind === 'upgrade' || !safe) {
    if (origin === ownOrigin || (origin === undefined && kind === 'request' && site === 'same-origin')) return;
  } else {
    if (origin !== undefined && origin !== ownOrigin) throw crossSite(ownOrigin);
    if (site === undefined || site === 'same-origin' || site === 'none') return;
    if (mode === 'navigate' && (destination === 'document' || destination === 'iframe')) return;
  }
  throw crossSite(ownOrigin);
}

function crossSite(ownOrigin: string): SlipwayError {
  return new SlipwayError('request.cross-site', `With the cookie, only pages of ${ownOrigin} may do this.`);
}

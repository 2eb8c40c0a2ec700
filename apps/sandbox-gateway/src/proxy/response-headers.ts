import { accessCookieName } from '../access/credentials.js';
import type { SandboxAddress } from '../routing/address.js';
import { hopByHop } from './request-headers.js';

/** What a sandbox must not say: it would hold for neighbours of its host, or send browsers past this gateway. */
const NOT_FROM_A_SANDBOX: ReadonlySet<string> = new Set([
  'strict-transport-security',
  'alt-svc',
  'nel',
  'report-to',
  'clear-site-data',
  'expect-ct',
  'public-key-pins',
]);
const OUR_COOKIES: ReadonlySet<string> = new Set([accessCookieName(true), accessCookieName(false)]);

export interface ResponseRules {
  /** The one origin, beside the sandbox's own, that may show it in a frame. */
  readonly frameOrigin: string;
  readonly address: SandboxAddress;
  /** `Set-Cookie` that renews our own cookie. */
  readonly renewedCookie: string | null;
}

/** A sandbox's headers as a list of names and values, stripped of what could affect anything but this sandbox. */
export function responseHeaders(
  given: Readonly<Record<string, string | string[] | undefined>>,
  rules: ResponseRules,
): string[] {
  const connection = given['connection'];
  const ends = hopByHop(Array.isArray(connection) ? connection.join(',') : connection);
  const out: string[] = [];
  let cacheControl: string | null = null;
  for (const [rawName, value] of Object.entries(given)) {
    const name = rawName.toLowerCase();
    if (value === undefined || ends(name) || NOT_FROM_A_SANDBOX.has(name)) continue;
    if (name === 'cache-control') {
      cacheControl = Array.isArray(value) ? value.join(', ') : value;
      continue;
    }
    for (const each of Array.isArray(value) ? value : [value]) {
      if (name !== 'set-cookie') out.push(rawName, each);
      else if (rules.address.way === 'host') {
        const cookie = ownCookie(each);
        if (cookie !== null) out.push(rawName, cookie);
      }
    }
  }
  // No cache between here and the browser may keep what only this user may see.
  out.push('cache-control', privately(cacheControl));
  // Beside the sandbox's own policy, not instead of it: a browser follows both.
  out.push('content-security-policy', `frame-ancestors 'self' ${rules.frameOrigin}`);
  if (given['referrer-policy'] === undefined) out.push('referrer-policy', 'strict-origin-when-cross-origin');
  if (rules.renewedCookie !== null) out.push('set-cookie', rules.renewedCookie);
  return out;
}

function privately(cacheControl: string | null): string {
  const kept = (cacheControl ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^(public|private|s-maxage|proxy-revalidate)\b/i.test(part));
  return ['private', ...kept].join(', ');
}

/** A cookie of the sandbox, held to its own host; `null` for one that would be ours. */
function ownCookie(cookie: string): string | null {
  const [pair = '', ...attributes] = cookie.split(';');
  if (OUR_COOKIES.has((pair.split('=', 1)[0] ?? '').trim())) return null;
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(=|$)/i.test(attribute))].join(';');
}

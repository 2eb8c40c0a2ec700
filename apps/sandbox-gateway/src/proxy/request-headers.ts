import type { IncomingMessage } from 'node:http';
import { SANDBOX_TOKEN_PREFIX } from '@slipway/auth/sandbox-access';
import { CALLER_KEY_HEADER, CALLER_USER_HEADER, type CallerUser, callerUserHeader } from '@slipway/contracts/agent';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { cookiesOf, headerToken } from '../access/credentials.js';
import type { SandboxAddress } from '../routing/address.js';
import type { Target } from '../sandboxes/locator.js';

/** Of one connection and no more (RFC 9110, 7.6.1), beside what `Connection` names. `expect` is answered here. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);
/**
 * Most headers of one request, far above what browsers and clients send. Node drops what is beyond its own limit of a
 * thousand without a word: no header that counts may be among those.
 */
const MAX_HEADERS = 100;
/** What only Slipway may say, by how it begins. */
const OUR_PREFIX = 'x-slipway-';
/** What only we may say. */
const OURS: ReadonlySet<string> = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'forwarded',
]);
/**
 * Cookies of Slipway itself, by any of their names: a browser sends them here too where Slipway and sandboxes share a
 * host name.
 */
const PLATFORM_COOKIE = /^(__(Host|Secure)-)?(keycloak_auth|slipway_|kc_|oauth_)/i;

/** Whether a header ends at this hop: by its nature, or because `Connection` says so. */
export function hopByHop(connection: string | undefined): (name: string) => boolean {
  if (connection === undefined) return (name) => HOP_BY_HOP.has(name);
  const named = new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
  return (name) => HOP_BY_HOP.has(name) || named.has(name);
}

export interface RequestFacts {
  readonly address: SandboxAddress;
  readonly target: Target;
  readonly user: CallerUser;
  readonly scheme: 'http' | 'https';
}

/**
 * What the sandbox gets to see, as a list of names and values: never our token, our cookies or another hop's headers.
 * agent-server gets its own key instead; what a program in the sandbox calls a token or a cookie goes through.
 */
export function requestHeaders(request: IncomingMessage, { address, target, user, scheme }: RequestFacts): string[] {
  const ends = hopByHop(request.headers.connection);
  const isAgentServer = target.sessionKey !== null;
  const ourToken = headerToken(request.headers);
  // First: whatever a client sends behind them cannot push them out.
  const out: string[] = Object.entries(agentServerHeaders(target, user)).flat();
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const value = rawHeaders[index + 1] as string;
    if (ends(name) || OURS.has(name) || name.startsWith(OUR_PREFIX)) continue;
    if (name === 'authorization' || name === 'x-session-api-key') {
      if (isAgentServer || (ourToken !== null && value.includes(SANDBOX_TOKEN_PREFIX))) continue;
    } else if (name === 'cookie') {
      const kept = address.way === 'path' || isAgentServer ? '' : foreignCookies(value);
      if (kept !== '') out.push(name, kept);
      continue;
    } else if (name === 'referer' && value.includes(SANDBOX_TOKEN_PREFIX)) continue;
    out.push(name, value);
  }
  out.push('x-forwarded-for', request.socket.remoteAddress ?? 'unknown', 'x-forwarded-proto', scheme);
  if (request.headers.host !== undefined) out.push('x-forwarded-host', request.headers.host);
  if (address.prefix !== '') out.push('x-forwarded-prefix', address.prefix);
  return out;
}

/**
 * What agent-server knows of who calls it: that they may, that this gateway says so, and who it is. Nothing on every
 * other port.
 */
export function agentServerHeaders({ sessionKey, gatewayKey }: Target, user: CallerUser): Record<string, string> {
  if (sessionKey === null) return {};
  const proof: Record<string, string> =
    gatewayKey === null ? {} : { [CALLER_KEY_HEADER]: gatewayKey, [CALLER_USER_HEADER]: callerUserHeader(user) };
  return { 'x-session-api-key': sessionKey, [THROUGH_GATEWAY_HEADER]: 'sandbox-gateway', ...proof };
}

/** @throws SlipwayError `request.headers-too-many`. */
export function assertFewHeaders({ rawHeaders }: IncomingMessage): void {
  if (rawHeaders.length > 2 * MAX_HEADERS)
    throw new SlipwayError('request.headers-too-many', `At most ${MAX_HEADERS} headers are taken.`);
}

function foreignCookies(header: string): string {
  return cookiesOf(header)
    .filter(([name, value]) => !PLATFORM_COOKIE.test(name) && !value.includes(SANDBOX_TOKEN_PREFIX))
    .map(([name, value]) => (name === '' ? value : `${name}=${value}`))
    .join('; ');
}

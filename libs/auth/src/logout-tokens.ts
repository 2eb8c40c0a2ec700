import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import type { IssuerKeys } from './issuer-keys.js';

/** A sign-in that the issuer says is over. Not both of `subject` and `issuerSession` are `null`. */
export interface IssuerLogout {
  readonly issuer: string;
  /** Whose sessions. With `issuerSession` it only names the owner of that one session. */
  readonly subject: string | null;
  /** The one session that is over (`sid`); `null`: all of the subject's. */
  readonly issuerSession: string | null;
  /** `jti`: the same for a token that is sent again. */
  readonly tokenId: string;
  /** When a token sent again would no longer be taken. */
  readonly expiresAt: Date;
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** What Keycloak and its like sign with. No symmetric one: an id token's public key must never pass for a secret. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256'];
/** What this process needs to know of the issuer to trust what it signs. */
export interface LogoutTokenOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Difference of the two clocks that is forgiven. Seconds. */
  readonly clockTolerance: number;
}

/**
 * Checks a back-channel logout token as OpenID Connect Back-Channel Logout 1.0, 2.6 says: signature, `iss`, `aud`,
 * `iat`, `exp`, `jti`, the event, `sub` or `sid`, and no `nonce` (which an id token has).
 * @returns `'refused'` for a token that is not one.
 * @throws what fetching the keys threw: the token may be right.
 */
export async function readLogoutToken(
  jwt: string,
  keys: IssuerKeys,
  options: LogoutTokenOptions,
): Promise<IssuerLogout | 'refused'> {
  const payload = await verified(jwt, keys, options);
  if (payload === 'refused') return payload;
  const { iss, sub, jti, exp, events } = payload;
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[EVENT] : undefined;
  const session = textOf(payload['sid']);
  if (typeof event !== 'object' || event === null || 'nonce' in payload || textOf(jti) === null) return 'refused';
  if (session === null && textOf(sub) === null) return 'refused';
  return {
    issuer: iss as string,
    subject: textOf(sub),
    issuerSession: session,
    tokenId: jti as string,
    expiresAt: new Date((exp as number) * 1000),
  };
}

async function verified(jwt: string, keys: IssuerKeys, options: LogoutTokenOptions): Promise<JWTPayload | 'refused'> {
  const header = headerOf(jwt);
  if (header === null || !ALGORITHMS.includes(header.alg ?? '')) return 'refused';
  const set = createLocalJWKSet(await keys.withKey(header.kid));
  try {
    const { payload } = await jwtVerify(jwt, set, {
      issuer: options.issuer,
      audience: options.clientId,
      algorithms: ALGORITHMS,
      clockTolerance: options.clockTolerance,
      requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return 'refused';
    throw error;
  }
}

/** `null` for what is no JWT, or says that it is one of another kind. */
function headerOf(jwt: string): ProtectedHeaderParameters | null {
  try {
    const header = decodeProtectedHeader(jwt);
    return header.typ === undefined || /^(application\/)?(logout\+)?jwt$/i.test(header.typ) ? header : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

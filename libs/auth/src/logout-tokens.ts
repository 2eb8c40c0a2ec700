import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';

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
/** Longest wait for the issuer's keys. Milliseconds. */
const TIMEOUT_MS = 5_000;
/** A key that the issuer has withdrawn is trusted at most this much longer. Milliseconds. */
const KEYS_FRESH_MS = 60_000;
/** An unknown key id makes us look at the issuer's keys again, at most this often. Milliseconds. */
const KEYS_COOLDOWN_MS = 1_000;

/** What this process needs to know of the issuer to trust what it signs. */
export interface LogoutTokenOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Difference of the two clocks that is forgiven. Seconds. */
  readonly clockTolerance: number;
}

/** The keys that an issuer publishes, kept for a minute. */
export function issuerKeys(jwksUri: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(jwksUri), { timeoutDuration: TIMEOUT_MS, cacheMaxAge: KEYS_FRESH_MS, cooldownDuration: KEYS_COOLDOWN_MS });
}

/**
 * Checks a back-channel logout token as OpenID Connect Back-Channel Logout 1.0, 2.6 says: signature, `iss`, `aud`, `iat`, `exp`, `jti`, the event, `sub` or
 * `sid`, and no `nonce` (which an id token has).
 * @returns `'refused'` for a token that is not one.
 * @throws what fetching the keys threw: the token may be right.
 */
export async function readLogoutToken(jwt: string, keys: JWTVerifyGetKey, options: LogoutTokenOptions): Promise<IssuerLogout | 'refused'> {
  const payload = await verified(jwt, keys, options);
  if (payload === 'refused') return payload;
  const { iss, sub, jti, exp, events } = payload;
  const event = typeof events === 'object' && events !== null ? (events as Record<string, unknown>)[EVENT] : undefined;
  const session = textOf(payload['sid']);
  if (typeof event !== 'object' || event === null || 'nonce' in payload || textOf(jti) === null) return 'refused';
  if (session === null && textOf(sub) === null) return 'refused';
  return { issuer: iss as string, subject: textOf(sub), issuerSession: session, tokenId: jti as string, expiresAt: new Date((exp as number) * 1000) };
}

async function verified(jwt: string, keys: JWTVerifyGetKey, options: LogoutTokenOptions): Promise<JWTPayload | 'refused'> {
  try {
    const { payload, protectedHeader } = await jwtVerify(jwt, keys, {
      issuer: options.issuer,
      audience: options.clientId,
      algorithms: ALGORITHMS,
      clockTolerance: options.clockTolerance,
      requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti'],
    });
    const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, '');
    return type === undefined || type === 'jwt' || type === 'logout+jwt' ? payload : 'refused';
  } catch (error) {
    if (error instanceof errors.JOSEError && !isOutage(error)) return 'refused';
    throw error;
  }
}

/** The keys could not be had: it says nothing about the token. */
function isOutage(error: errors.JOSEError): boolean {
  return error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

import { jwtVerify, SignJWT } from 'jose';

export const SESSION_COOKIE = 'keycloak_auth';
const AUDIENCE = 'slipway-session';

/** The cookie of a signed-in browser: a JWT (HS256) that holds a session id and nothing else. */
export class SessionCookie {
  private readonly key: Uint8Array;

  /** @param secret `SESSION_SECRET`, at least 32 characters. */
  constructor(secret: string) {
    this.key = new TextEncoder().encode(secret);
  }

  sign(sessionId: string, expiresAt: Date): Promise<string> {
    return new SignJWT({ sid: sessionId }).setProtectedHeader({ alg: 'HS256' }).setAudience(AUDIENCE).setIssuedAt().setExpirationTime(expiresAt).sign(this.key);
  }

  /** The session id, or `null` for anything that this key did not sign or that is over. */
  async verify(value: string | undefined): Promise<string | null> {
    if (value === undefined || value === '') return null;
    try {
      const { payload } = await jwtVerify(value, this.key, { audience: AUDIENCE, algorithms: ['HS256'], requiredClaims: ['exp'] });
      return typeof payload['sid'] === 'string' ? payload['sid'] : null;
    } catch {
      return null;
    }
  }
}

/**
 * One cookie of a `Cookie` header, or `undefined`. Two of the same name with different values count as none: a page of a neighbouring host can
 * put a cookie of its own before ours, and nothing in the header tells which is whose.
 */
export function readCookie(header: string | undefined, name: string): string | undefined {
  let found: string | undefined;
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=');
    if (at <= 0 || part.slice(0, at).trim() !== name) continue;
    const value = part.slice(at + 1).trim();
    if (found !== undefined && found !== value) return undefined;
    found = value;
  }
  return found;
}

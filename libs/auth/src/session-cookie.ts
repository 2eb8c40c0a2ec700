import { jwtVerify, SignJWT } from 'jose';

/** The cookie's name over plain http, and what its name ends with everywhere. */
export const SESSION_COOKIE = 'keycloak_auth';
const AUDIENCE = 'slipway-session';
/** Cookies whose signature is known to be good; about 300 bytes each. */
const MAX_VERIFIED = 10_000;

/** How a browser keeps a cookie of ours. */
export interface CookieRules {
  readonly name: string;
  /** Attributes of every `Set-Cookie`, but for `Max-Age`. */
  readonly attributes: string;
}

/**
 * Over https the name has the prefix by which a browser takes the cookie from this very host alone, for every path, and
 * only encrypted; over plain http, which is for a developer's own machine, no browser would accept such a one. `Lax`,
 * not `Strict`: the way back from the issuer and every link to a conversation from a chat or an e-mail begin at another
 * site, and the user is to be signed in there. What `Lax` lets through is reading by navigation; whatever changes
 * something must name our origin (`PrincipalService.assertSameSite`).
 */
export function sessionCookieRules(publicUrl: string): CookieRules {
  return new URL(publicUrl).protocol === 'https:'
    ? { name: `__Host-${SESSION_COOKIE}`, attributes: 'Path=/; HttpOnly; SameSite=Lax; Secure' }
    : { name: SESSION_COOKIE, attributes: 'Path=/; HttpOnly; SameSite=Lax' };
}

/** The cookie of a signed-in browser: a JWT (HS256) that holds a session id and nothing else. */
export class SessionCookie {
  private readonly key: Uint8Array;
  private readonly rules: CookieRules;
  /**
   * By the whole value: a signature that was good is good for as long as the value says, and checking it again for
   * every request was a tenth of what a short request costs.
   */
  private readonly verified = new Map<string, { readonly sessionId: string; readonly until: number }>();

  /**
   * @param secret `SESSION_SECRET`, at least 32 characters.
   * @param publicUrl where browsers reach Slipway; decides the cookie's name.
   */
  constructor(secret: string, publicUrl = 'http://localhost') {
    this.key = new TextEncoder().encode(secret);
    this.rules = sessionCookieRules(publicUrl);
  }

  /** What of a `Cookie` header is ours, if anything; `undefined` also for two that differ. */
  read(header: string | undefined): string | undefined {
    return readCookie(header, this.rules.name);
  }

  /** The session id of a `Cookie` header, or `null`. */
  sessionOf(header: string | undefined): Promise<string | null> {
    return this.verify(this.read(header));
  }

  /** `Set-Cookie` of a session. */
  async set(sessionId: string, expiresAt: Date, now: Date): Promise<string> {
    const maxAge = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
    return `${this.rules.name}=${await this.sign(sessionId, expiresAt)}; Max-Age=${maxAge}; ${this.rules.attributes}`;
  }

  /** `Set-Cookie` that makes the browser forget it. */
  clear(): string {
    return `${this.rules.name}=; Max-Age=0; ${this.rules.attributes}`;
  }

  sign(sessionId: string, expiresAt: Date): Promise<string> {
    return new SignJWT({ sid: sessionId })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(expiresAt)
      .sign(this.key);
  }

  /** The session id, or `null` for anything that this key did not sign or that is over. */
  async verify(value: string | undefined): Promise<string | null> {
    if (value === undefined || value === '') return null;
    const known = this.verified.get(value);
    if (known !== undefined) return known.until > Date.now() ? known.sessionId : null;
    try {
      const { payload } = await jwtVerify(value, this.key, {
        audience: AUDIENCE,
        algorithms: ['HS256'],
        requiredClaims: ['exp'],
      });
      const { sid, exp } = payload;
      if (typeof sid !== 'string' || exp === undefined) return null;
      this.remember(value, sid, exp);
      return sid;
    } catch {
      return null;
    }
  }

  private remember(value: string, sessionId: string, expiresAtSeconds: number): void {
    if (this.verified.size >= MAX_VERIFIED) {
      const [oldest] = this.verified.keys();
      if (oldest !== undefined) this.verified.delete(oldest);
    }
    this.verified.set(value, { sessionId, until: expiresAtSeconds * 1000 });
  }
}

/**
 * One cookie of a `Cookie` header, or `undefined`. Two of the same name with different values count as none: a page of
 * a neighbouring host can put a cookie of its own before ours, and the header does not show which is whose.
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

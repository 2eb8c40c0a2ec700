import { SandboxAccessClaims } from '@slipway/contracts/sandboxes';
import { SlipwayError } from '@slipway/errors';
import { jwtVerify, SignJWT } from 'jose';

const AUDIENCE = 'slipway-sandbox-access';
/**
 * Prefix of every token: distinguishes it from tokens of programs in the sandbox, and lets scanners find leaked
 * secrets.
 */
export const SANDBOX_TOKEN_PREFIX = 'slp_sbx_';
/** Lifetime of a token. Seconds; the access that it belongs to may end at any moment before. */
export const SANDBOX_TOKEN_SECONDS = 600;
/** Longest token that is parsed. Characters. */
const MAX_LENGTH = 2_000;
/** Tokens remembered as verified. One is about 700 bytes. */
const MAX_REMEMBERED = 10_000;

export interface VerifiedToken {
  readonly claims: SandboxAccessClaims;
  readonly expiresAtMs: number;
}

/**
 * What lets its holder into one port of one conversation's sandbox: a JWT (HS256) behind a prefix. Whether the access
 * still holds is not in it.
 */
export class SandboxTokens {
  private readonly key: Uint8Array;
  private readonly verified = new Map<string, VerifiedToken>();

  /** @param secret `SANDBOX_ACCESS_SECRET`, at least 32 characters, the same for app-server and sandbox-gateway. */
  constructor(secret: string) {
    this.key = new TextEncoder().encode(secret);
  }

  /**
   * @param endsAt when the access ends: the token is over then at the latest.
   * @param lifeSeconds for a client that cannot ask for another one: as long as the access.
   */
  async sign(
    claims: SandboxAccessClaims,
    now: Date,
    endsAt: Date,
    lifeSeconds = SANDBOX_TOKEN_SECONDS,
  ): Promise<{ token: string; expiresAt: Date }> {
    const seconds = Math.floor(Math.min(now.getTime() + lifeSeconds * 1000, endsAt.getTime()) / 1000);
    const jwt = await new SignJWT({ org: claims.org, conversation: claims.conversation, port: claims.port })
      .setProtectedHeader({ alg: 'HS256' })
      .setJti(claims.jti)
      .setSubject(claims.sub)
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(seconds)
      .sign(this.key);
    return { token: `${SANDBOX_TOKEN_PREFIX}${jwt}`, expiresAt: new Date(seconds * 1000) };
  }

  /** The answer of an earlier `verify` of this very token, while it is not over; for a path that cannot wait. */
  remembered(token: string): VerifiedToken | null {
    const known = this.verified.get(token);
    if (known === undefined) return null;
    if (known.expiresAtMs > Date.now()) return known;
    this.verified.delete(token);
    return null;
  }

  /** @throws SlipwayError `auth.missing` for one that is malformed, of another key or audience, unsigned or over. */
  async verify(token: string): Promise<VerifiedToken> {
    const known = this.remembered(token);
    if (known !== null) return known;
    try {
      if (!token.startsWith(SANDBOX_TOKEN_PREFIX) || token.length > MAX_LENGTH)
        throw new Error('no token of a sandbox');
      const { payload } = await jwtVerify(token.slice(SANDBOX_TOKEN_PREFIX.length), this.key, {
        audience: AUDIENCE,
        algorithms: ['HS256'],
        requiredClaims: ['exp', 'jti', 'sub'],
      });
      const verified = { claims: SandboxAccessClaims.parse(payload), expiresAtMs: (payload.exp as number) * 1000 };
      this.remember(token, verified);
      return verified;
    } catch (error) {
      throw new SlipwayError('auth.missing', 'The token is not valid, or it is over. Ask app-server for another one.', {
        cause: error,
      });
    }
  }

  private remember(token: string, verified: VerifiedToken): void {
    const oldest = this.verified.size >= MAX_REMEMBERED ? this.verified.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.verified.delete(oldest.value);
    this.verified.set(token, verified);
  }
}

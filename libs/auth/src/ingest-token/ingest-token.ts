import { IngestClaims } from '@slipway/contracts/events';
import { SlipwayError } from '@slipway/errors';
import { jwtVerify, SignJWT } from 'jose';

const AUDIENCE = 'slipway-ingest';
/** Tokens remembered as verified. One is about 500 bytes. */
const MAX_REMEMBERED = 10_000;

/** What a sandbox shows when it hands in events: a JWT (HS256) for one epoch of one conversation. */
export class IngestTokens {
  private readonly key: Uint8Array;
  private readonly verified = new Map<string, { claims: IngestClaims; expiresAtMs: number }>();

  /** @param secret `INGEST_SECRET`, at least 32 characters, the same for worker and app-server. */
  constructor(secret: string) {
    this.key = new TextEncoder().encode(secret);
  }

  /** @param ttlSeconds from now; longer than the sandbox may live, since its epoch fences it and not the clock. */
  sign(claims: IngestClaims, ttlSeconds: number): Promise<string> {
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${ttlSeconds}s`)
      .sign(this.key);
  }

  /**
   * The claims of a token, or of an `Authorization` header value that holds one.
   * @throws SlipwayError `auth.missing` for one that is absent, malformed, of another key or expired.
   */
  async verify(token: string | undefined): Promise<IngestClaims> {
    const text = token?.replace(/^Bearer /i, '') ?? '';
    const known = this.verified.get(text);
    if (known !== undefined && known.expiresAtMs > Date.now()) return known.claims;
    this.verified.delete(text);
    try {
      const { payload } = await jwtVerify(text, this.key, {
        audience: AUDIENCE,
        algorithms: ['HS256'],
        requiredClaims: ['exp'],
      });
      const claims = IngestClaims.parse(payload);
      this.remember(text, claims, (payload.exp as number) * 1000);
      return claims;
    } catch (error) {
      throw new SlipwayError('auth.missing', 'The ingest token is not valid.', { cause: error });
    }
  }

  private remember(token: string, claims: IngestClaims, expiresAtMs: number): void {
    const oldest = this.verified.size >= MAX_REMEMBERED ? this.verified.keys().next() : undefined;
    if (oldest !== undefined && !oldest.done) this.verified.delete(oldest.value);
    this.verified.set(token, { claims, expiresAtMs });
  }
}

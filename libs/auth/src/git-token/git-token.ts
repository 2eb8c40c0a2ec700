import { SlipwayError } from '@slipway/errors';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

const AUDIENCE = 'slipway-git';
const GitClaims = z.object({ org: z.string(), conversation: z.uuid(), epoch: z.int().nonnegative() });
/** Whose repositories may be read, while the conversation is wanted and no later start has replaced this one. */
export type GitClaims = z.infer<typeof GitClaims>;

/**
 * Credential of git in a sandbox at app-server: a JWT (HS256) that reads the repositories granted to one conversation,
 * and does nothing else. The grants are read with each request, so it is useless once the grant or the connection is
 * gone.
 */
export class GitTokens {
  private readonly key: Uint8Array;

  /** @param secret `INGEST_SECRET`, at least 32 characters, the same for worker and app-server. */
  constructor(secret: string) {
    this.key = new TextEncoder().encode(secret);
  }

  /** @param ttlSeconds from now; longer than the sandbox may live. */
  sign(claims: GitClaims, ttlSeconds: number): Promise<string> {
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(`${ttlSeconds}s`)
      .sign(this.key);
  }

  /**
   * @param authorization the whole header. @throws SlipwayError `auth.missing` for one that is absent, malformed, of
   * another key or purpose, or over.
   */
  async verify(authorization: string | undefined): Promise<GitClaims> {
    try {
      const token = authorization?.replace(/^Bearer /i, '') ?? '';
      const { payload } = await jwtVerify(token, this.key, {
        audience: AUDIENCE,
        algorithms: ['HS256'],
        requiredClaims: ['exp'],
      });
      return GitClaims.parse(payload);
    } catch (error) {
      throw new SlipwayError('auth.missing', 'The token for git is not valid.', { cause: error });
    }
  }
}

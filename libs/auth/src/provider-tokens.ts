import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { z } from 'zod';
import type { OidcIssuer } from './oidc-issuer.js';
import type { SecretBox } from './secret-box/secret-box.js';

/** Another provider's account of a user, without its token. */
export interface Connected {
  readonly provider: string;
  readonly scopes: string[];
  readonly connectedAt: Date;
  readonly refreshedAt: Date;
  /** `null`: it does not end by itself. */
  readonly expiresAt: Date | null;
}

const Kept = z.object({ accessToken: z.string(), refreshToken: z.string().nullable() });

/** One that ends sooner than this is asked for again when the session's own tokens are new. Milliseconds. */
const SOON_MS = 15 * 60_000;

/**
 * Tokens of other providers (GitHub, GitLab …) that the issuer has stored of brokered sign-ins, taken over and kept encrypted, apart from the session: they outlive
 * it, and its end does not end them. The issuer refreshes them; we ask it again.
 */
export class ProviderTokens {
  /** @param brokers aliases of the providers that the issuer brokers, `OIDC_BROKERS`; empty: nothing is ever asked. */
  constructor(
    private readonly pool: SqlPool,
    private readonly box: SecretBox,
    private readonly issuer: Pick<OidcIssuer, 'providerToken'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly brokers: readonly string[],
  ) {}

  /**
   * Asks the issuer for its tokens of this user. Without a token or an answer for a provider the stored one stays.
   * @throws never
   */
  async take(userId: string, accessToken: string): Promise<void> {
    await Promise.all(this.brokers.map((provider) => this.takeOne(userId, accessToken, provider)));
  }

  /** The same for those kept ones that end soon. @throws never */
  async renew(userId: string, accessToken: string): Promise<void> {
    if (this.brokers.length === 0) return;
    const due = await this.list(userId).catch(() => []);
    const before = this.clock.now().getTime() + SOON_MS;
    for (const { provider, expiresAt } of due)
      if (expiresAt !== null && expiresAt.getTime() < before && this.brokers.includes(provider)) await this.takeOne(userId, accessToken, provider);
  }

  async list(userId: string): Promise<Connected[]> {
    const { rows } = await this.pool.query<Connected>(
      `SELECT provider, scopes, connected_at AS "connectedAt", refreshed_at AS "refreshedAt", expires_at AS "expiresAt"
       FROM app.provider_token WHERE user_id = $1 ORDER BY provider`,
      [userId],
    );
    return rows;
  }

  /**
   * The access token of one provider, for a request on behalf of this user; `null` when there is none, it has expired,
   * or ENCRYPTION_KEY has changed since.
   */
  async of(userId: string, provider: string): Promise<string | null> {
    const { rows } = await this.pool.query<{ token: Buffer; expires_at: Date | null }>(
      'SELECT token, expires_at FROM app.provider_token WHERE user_id = $1 AND provider = $2',
      [userId, provider],
    );
    const row = rows[0];
    if (row === undefined || (row.expires_at !== null && row.expires_at <= this.clock.now())) return null;
    try {
      return Kept.parse(JSON.parse(this.box.decrypt(row.token, purpose(userId, provider)))).accessToken;
    } catch (error) {
      this.logger.warn({ err: error, provider }, 'failed to decrypt a stored provider token');
      return null;
    }
  }

  private async takeOne(userId: string, accessToken: string, provider: string): Promise<void> {
    try {
      const token = await this.issuer.providerToken(accessToken, provider);
      if (token === null) return;
      const now = this.clock.now();
      const { accessToken: access, refreshToken } = token;
      await this.pool.query(
        `INSERT INTO app.provider_token (user_id, provider, token, scopes, connected_at, refreshed_at, expires_at) VALUES ($1, $2, $3, $4, $5, $5, $6)
         ON CONFLICT (user_id, provider) DO UPDATE SET token = excluded.token, scopes = excluded.scopes, refreshed_at = excluded.refreshed_at, expires_at = excluded.expires_at`,
        [
          userId,
          provider,
          this.box.encrypt(JSON.stringify({ accessToken: access, refreshToken }), purpose(userId, provider)),
          token.scopes,
          now,
          token.lifeSeconds === null ? null : new Date(now.getTime() + token.lifeSeconds * 1000),
        ],
      );
    } catch (error) {
      this.logger.warn({ err: error, provider }, 'provider token not stored, the next sign-in will retry');
    }
  }
}

function purpose(userId: string, provider: string): string {
  return `provider-token:${userId}:${provider}`;
}

import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { z } from 'zod';
import type { OidcIssuer } from './oidc-issuer.js';
import {
  type Connected,
  findProviderToken,
  listProviderTokens,
  storeProviderToken,
} from './provider-tokens.queries.js';
import type { SecretBox } from './secret-box/secret-box.js';

const Kept = z.object({ accessToken: z.string(), refreshToken: z.string().nullable() });

/** One that ends sooner than this is asked for again when the session's own tokens are new. Milliseconds. */
const SOON_MS = 15 * 60_000;

/**
 * Tokens of other providers (GitHub, GitLab …) that the issuer has stored of brokered sign-ins, taken over and kept
 * encrypted, apart from the session: they outlive it, and its end does not end them. The issuer refreshes them; we ask
 * it again.
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
      if (expiresAt !== null && expiresAt.getTime() < before && this.brokers.includes(provider))
        await this.takeOne(userId, accessToken, provider);
  }

  list(userId: string): Promise<Connected[]> {
    return listProviderTokens(this.pool, userId);
  }

  /**
   * The access token of one provider, for a request on behalf of this user; `null` when there is none, it has expired,
   * or ENCRYPTION_KEY has changed since.
   */
  async of(userId: string, provider: string): Promise<string | null> {
    const kept = await findProviderToken(this.pool, userId, provider);
    if (kept === null || (kept.expiresAt !== null && kept.expiresAt <= this.clock.now())) return null;
    try {
      return Kept.parse(JSON.parse(this.box.decrypt(Buffer.from(kept.token), purpose(userId, provider)))).accessToken;
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
      await storeProviderToken(this.pool, userId, provider, {
        token: this.box.encrypt(JSON.stringify({ accessToken: access, refreshToken }), purpose(userId, provider)),
        scopes: token.scopes,
        refreshedAt: now,
        expiresAt: token.lifeSeconds === null ? null : new Date(now.getTime() + token.lifeSeconds * 1000),
      });
    } catch (error) {
      this.logger.warn({ err: error, provider }, 'provider token not stored, the next sign-in will retry');
    }
  }
}

function purpose(userId: string, provider: string): string {
  return `provider-token:${userId}:${provider}`;
}

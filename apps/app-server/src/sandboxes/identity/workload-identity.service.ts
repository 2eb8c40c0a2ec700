import { Inject, Injectable } from '@nestjs/common';
import { SecretBox } from '@slipway/auth';
import { IdentityKeys, type Workload, workloadToken } from '@slipway/auth/workload-identity';
import { IDENTITY_PATH } from '@slipway/contracts/credentials';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';

/** Makes tokens that say for which conversation a request is, and says what they can be checked with. */
@Injectable()
export class WorkloadIdentityService {
  readonly issuer: string;
  private readonly keys: IdentityKeys;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SQL_POOL) pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    box: SecretBox,
  ) {
    this.issuer = `${config.PUBLIC_URL.replace(/\/+$/, '')}${IDENTITY_PATH}`;
    this.keys = new IdentityKeys(pool, box, clock);
  }

  /** Without credential-broker nobody is given a token. */
  get isAvailable(): boolean {
    return this.config.CREDENTIAL_CONTROL_SECRET !== undefined;
  }

  /** For credential-broker alone. @throws SlipwayError `secret.unreadable` when the key that signs cannot be opened. */
  async tokenFor(workload: Workload, audience: string): Promise<string> {
    const key = await this.keys.signing().catch((cause: unknown) => {
      throw new SlipwayError('secret.unreadable', 'The key of workload identity cannot be opened.', { cause });
    });
    const { issuer } = this;
    return workloadToken(key, workload, { issuer, audience, now: this.clock.now(), tokenId: this.ids.uuid() });
  }

  /** OpenID Connect Discovery 1.0, as far as somebody reads it who checks tokens: there is nothing to sign in with. */
  discovery(): Readonly<Record<string, unknown>> {
    return {
      issuer: this.issuer,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      scopes_supported: ['openid'],
      claims_supported: [
        ...['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti'],
        ...['conversation_id', 'claim_id', 'user'],
      ],
    };
  }

  async jwks(): Promise<{ readonly keys: readonly object[] }> {
    return { keys: await this.keys.published() };
  }
}

import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { credentialContext, Envelope } from '@slipway/auth/envelope';
import {
  KeptGrant,
  type RenewalAnswer,
  type RenewalOutcome,
  type RenewalQuestion,
  type RotatedCredential,
} from '@slipway/contracts/credentials';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { OpenCredentialsService } from './open-credentials.service.js';
import {
  endRenewal,
  keepRenewed,
  leaseRenewal,
  type RenewingCredential,
  renewingCredential,
} from './refresh-tokens.queries.js';

/** An access token that ends sooner is renewed. Milliseconds. */
const SPARE_MS = 60_000;
/** How long a token is taken to be valid of which the server did not say it. Seconds. */
const UNSAID_SECONDS = 300;

/**
 * Keeps refresh tokens and what they have brought, for the form `oauth-refresh-token`. One process of credential-broker
 * at a time is given a refresh token; the others wait for what comes of it.
 */
@Injectable()
export class RefreshTokensService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
    private readonly envelope: Envelope,
    private readonly credentials: OpenCredentialsService,
  ) {}

  /** @throws SlipwayError `secret.unreadable` */
  async renew(question: RenewalQuestion): Promise<RenewalAnswer> {
    const { org, credential } = question;
    const usable = await this.credentials.isUsable(question, credential);
    const row = usable ? await inOrg(this.pool, org, (client) => renewingCredential(client, org, credential)) : null;
    if (row === null || row.state !== 'active' || row.use.form !== 'oauth-refresh-token') return { state: 'resting' };
    const kept = await this.opened(org, row);
    const { access, refreshToken, clientSecret = null } = kept;
    if (access !== undefined) {
      const leftMs = Date.parse(access.until) - this.clock.now().getTime();
      const isRefused = createHash('sha256').update(access.token).digest('base64') === question.refused;
      if (leftMs > SPARE_MS && !isRefused)
        return { state: 'issued', accessToken: access.token, seconds: Math.floor(leftMs / 1000) };
    }
    const lease = this.ids.uuid();
    const taken = await inOrg(this.pool, org, (client) => leaseRenewal(client, org, row, lease));
    return taken ? { state: 'lease', lease, refreshToken, clientSecret } : { state: 'busy' };
  }

  /** @returns whether what was issued is kept; a report that is repeated is answered alike. */
  async rotated(
    { org, credential, lease, claim, conversation, host }: Omit<RotatedCredential, 'sealed'>,
    outcome: RenewalOutcome,
  ): Promise<boolean> {
    const row = await inOrg(this.pool, org, (client) => renewingCredential(client, org, credential));
    if (row === null) return false;
    if (row.renewedBy === lease) return true;
    if (row.renewingBy !== lease) return false;
    const renewal = { credential, lease };
    if (outcome.outcome === 'issued') {
      const { refreshToken, ...kept } = await this.opened(org, row);
      const seconds = outcome.seconds ?? UNSAID_SECONDS;
      const until = new Date(this.clock.now().getTime() + seconds * 1000).toISOString();
      const next: KeptGrant = {
        ...kept,
        refreshToken: outcome.refreshToken ?? refreshToken,
        access: { token: outcome.accessToken, until },
      };
      const sealed = await this.envelope.seal(org, JSON.stringify(next), contextOf(row));
      return inOrg(this.pool, org, (client) => keepRenewed(client, org, renewal, sealed));
    }
    await inOrg(this.pool, org, (client) => endRenewal(client, org, renewal, outcome.outcome === 'unknown'));
    if (outcome.outcome === 'refused' && outcome.isGrant)
      await this.credentials.rest(
        { org, credential, claim, conversation, host },
        row.unsure ? 'refresh-lost' : 'refresh-refused',
      );
    return false;
  }

  private async opened(org: string, row: RenewingCredential): Promise<KeptGrant> {
    const { sealed: bytes, keyVersion, name } = row;
    try {
      return KeptGrant.parse(JSON.parse(await this.envelope.open(org, { bytes, keyVersion }, contextOf(row))));
    } catch (cause) {
      throw new SlipwayError('secret.unreadable', `The credential ${name} cannot be opened.`, { cause });
    }
  }
}

const contextOf = ({ id, name, scope, scopeValue, use }: RenewingCredential): string =>
  credentialContext({ id, name, scope, scopeValue, use });

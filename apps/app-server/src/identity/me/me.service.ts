import { Inject, Injectable } from '@nestjs/common';
import { allowsAnalytics } from '@slipway/analytics';
import { PrincipalService, type SignedIn } from '@slipway/auth';
import type { Authentication } from '@slipway/contracts/identity';
import type { Me } from '@slipway/contracts/organizations';
import type { Config } from '../../config.js';
import { FlagsService } from '../../operate/analytics/flags.service.js';
import { CONFIG } from '../../platform/tokens.js';

/** A user as the API shows them to themselves. */
@Injectable()
export class MeService {
  constructor(
    private readonly principals: PrincipalService,
    @Inject(CONFIG) private readonly config: Config,
    private readonly flags: FlagsService,
  ) {}

  async of(user: SignedIn, auth: Authentication = { kind: 'session' }): Promise<Me> {
    const { TERMS_URL: url, TERMS_VERSION: version } = this.config;
    const { userId: id, name, email, emailVerified, termsVersion: acceptedVersion } = user;
    return {
      id,
      name,
      email,
      auth,
      emailVerified,
      orgs: [...user.orgs],
      gates: this.principals.gatesOf(user),
      terms: url === undefined || version === undefined ? null : { url, version, acceptedVersion },
      analytics: { host: allowsAnalytics(this.config) ? new URL(this.config.POSTHOG_HOST ?? '').host : null },
      flags: await this.flags.valuesIn(id, user.orgs),
    };
  }
}

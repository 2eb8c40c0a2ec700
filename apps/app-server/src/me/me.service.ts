import { Inject, Injectable } from '@nestjs/common';
import { PrincipalService, type SignedIn } from '@slipway/auth';
import type { Me, Proof } from '@slipway/contracts';
import type { Config } from '../config.js';
import { CONFIG } from '../platform/tokens.js';

/** A person as the API shows them to themselves. */
@Injectable()
export class MeService {
  constructor(
    private readonly principals: PrincipalService,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  of(person: SignedIn, auth: Proof = { kind: 'session' }): Me {
    const { TERMS_URL: url, TERMS_VERSION: version } = this.config;
    const { userId: id, name, email, emailVerified, termsVersion: acceptedVersion } = person;
    return {
      id,
      name,
      email,
      auth,
      emailVerified,
      orgs: [...person.orgs],
      gates: this.principals.gatesOf(person),
      terms: url === undefined || version === undefined ? null : { url, version, acceptedVersion },
    };
  }
}

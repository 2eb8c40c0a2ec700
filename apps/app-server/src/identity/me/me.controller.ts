import { Controller } from '@nestjs/common';
import { type Authenticated, type AuthenticatedKey, PrincipalService } from '@slipway/auth';
import { operations } from '@slipway/contracts/operations';
import { type Me, type ModelList, type Org, type Principal } from '@slipway/contracts/organizations';
import { notFound } from '@slipway/errors';
import { Caller, Credential } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { MeService } from './me.service.js';
import { ModelsService } from './models.service.js';

/** A key is no page: it reports nothing and is shown nothing else. */
const NO_ANALYTICS = { analytics: { host: null }, flags: {} } satisfies Partial<Me>;

@Controller()
export class MeController {
  constructor(
    private readonly people: MeService,
    private readonly models: ModelsService,
    private readonly principals: PrincipalService,
  ) {}

  @Serves(operations.me)
  async me(@Credential() authenticated: Authenticated): Promise<Me> {
    if (authenticated.kind === 'session') return this.people.of(authenticated.user);
    const { keyId, owner, org, expiresAt } = authenticated.key;
    const { id, label: name, email, emailVerified } = owner;
    const auth: Me['auth'] = {
      kind: 'api-key',
      keyId,
      orgId: org.id,
      owner: owner.kind,
      expiresAt: expiresAt.toISOString(),
    };
    return {
      id,
      name,
      email,
      auth,
      emailVerified,
      orgs: [orgOfKey(authenticated.key)],
      gates: this.principals.gatesOfCredential(authenticated),
      terms: null,
      ...NO_ANALYTICS,
    };
  }

  /** OpenHands' question of the same kind. */
  @Serves(operations.me, { path: '/api/keys/current' })
  current(@Credential() authenticated: Authenticated): {
    auth_type: string;
    user_id: string;
    org_id: string | null;
    bound_org_id: string | null;
  } {
    if (authenticated.kind === 'session')
      return {
        auth_type: 'cookie',
        user_id: authenticated.user.userId,
        org_id: authenticated.user.orgs[0]?.id ?? null,
        bound_org_id: null,
      };
    const { owner, org } = authenticated.key;
    return { auth_type: 'api_key', user_id: owner.id, org_id: org.id, bound_org_id: org.id };
  }

  @Serves(operations.getOrg)
  org(@Credential() authenticated: Authenticated, @Caller() caller: Principal): Org {
    const org =
      authenticated.kind === 'session'
        ? authenticated.user.orgs.find(({ id }) => id === caller.orgId)
        : orgOfKey(authenticated.key);
    if (org === undefined) throw notFound();
    return org;
  }

  @Serves(operations.listModels)
  async listModels(@Caller() caller: Principal): Promise<ModelList> {
    return { data: await this.models.offered(caller.orgId) };
  }
}

/** As its owner sees it, but for the permissions: those that the key leaves. */
export function orgOfKey({ org, role, permissions }: AuthenticatedKey): Org {
  return { ...org, role, permissions: [...permissions], deletesAt: null, needs: null };
}

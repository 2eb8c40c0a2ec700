import { Controller } from '@nestjs/common';
import { PrincipalService, type Proven, type ProvenKey } from '@slipway/auth';
import { type Me, type ModelList, type Org, operations, type Principal } from '@slipway/contracts';
import { notFound } from '@slipway/errors';
import { Caller, Proved } from '../http/params.js';
import { Serves } from '../http/serves.js';
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
  async me(@Proved() proven: Proven): Promise<Me> {
    if (proven.kind === 'session') return this.people.of(proven.person);
    const { keyId, owner, org, expiresAt } = proven.key;
    const { id, label: name, email, emailVerified } = owner;
    const auth: Me['auth'] = { kind: 'api-key', keyId, orgId: org.id, owner: owner.kind, expiresAt: expiresAt.toISOString() };
    return { id, name, email, auth, emailVerified, orgs: [orgOfKey(proven.key)], gates: this.principals.gatesOfProof(proven), terms: null, ...NO_ANALYTICS };
  }

  /** OpenHands' question of the same kind. */
  @Serves(operations.me, { path: '/api/keys/current' })
  current(@Proved() proven: Proven): { auth_type: string; user_id: string; org_id: string | null; bound_org_id: string | null } {
    if (proven.kind === 'session') return { auth_type: 'cookie', user_id: proven.person.userId, org_id: proven.person.orgs[0]?.id ?? null, bound_org_id: null };
    const { owner, org } = proven.key;
    return { auth_type: 'api_key', user_id: owner.id, org_id: org.id, bound_org_id: org.id };
  }

  @Serves(operations.getOrg)
  org(@Proved() proven: Proven, @Caller() caller: Principal): Org {
    const org = proven.kind === 'session' ? proven.person.orgs.find(({ id }) => id === caller.orgId) : orgOfKey(proven.key);
    if (org === undefined) throw notFound();
    return org;
  }

  @Serves(operations.listModels)
  async listModels(@Caller() caller: Principal): Promise<ModelList> {
    return { data: await this.models.offered(caller.orgId) };
  }
}

/** As its owner sees it, but for the permissions: those that the key leaves. */
export function orgOfKey({ org, role, permissions }: ProvenKey): Org {
  return { ...org, role, permissions: [...permissions], deletesAt: null, needs: null };
}

import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  DomainName,
  MAX_DOMAINS,
  type OrgDomain,
  type OrgDomainList,
  type Principal,
  type UpdateDomain,
} from '@slipway/contracts/organizations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { assertKept, lockOrg } from '../members/membership.queries.js';
import { DomainChecks } from './domain-checks.js';
import {
  type DomainRow,
  deleteDomain,
  findDomain,
  insertDomain,
  listDomains,
  markChecked,
  markVerified,
  setAutoJoinRole,
} from './domains.queries.js';
import { isPublicMailDomain } from './public-mail-domains.js';
import { TxtLookup } from './txt-lookup.js';
import { recordOf } from './verification-record.js';

const CHALLENGE_BYTES = 20;

/**
 * Domains that an organization claims and verifies, and whether users with an address of one join it (`DomainJoin`).
 */
@Injectable()
export class DomainsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    private readonly lookup: TxtLookup,
    private readonly checks: DomainChecks,
  ) {}

  list(caller: Principal): Promise<OrgDomainList> {
    return inOrg(this.pool, caller.orgId, async (client) => ({
      data: (await listDomains(client, caller.orgId)).map(toDomain),
      page: { nextCursor: null },
    }));
  }

  /**
   * Again is harmless, and the record stays what it was. @throws SlipwayError `domain.public`, `domain.too-many`,
   * `org.personal`, `org.being-deleted`
   */
  claim(caller: Principal, domain: string): Promise<OrgDomain> {
    if (isPublicMailDomain(domain)) throw new SlipwayError('domain.public', `${domain} is a public mail provider.`);
    return inOrg(this.pool, caller.orgId, async (client) => {
      const org = await lockOrg(client, caller.orgId);
      if (org === null) throw notFound();
      if (org.kind === 'personal')
        throw new SlipwayError('org.personal', 'A personal organization has no other members.');
      assertKept(org);
      const domains = await listDomains(client, org.id);
      if (domains.length >= MAX_DOMAINS && !domains.some((row) => row.domain === domain))
        throw new SlipwayError('domain.too-many', `An organization claims at most ${MAX_DOMAINS} domains.`);
      if (await insertDomain(client, org.id, domain, randomBytes(CHALLENGE_BYTES).toString('hex')))
        await client.query(auditOf(this.ids.uuid(), caller, { action: 'domain.claim', target: domain }));
      return this.present(client, org.id, domain);
    });
  }

  /**
   * Resolves the record, with no transaction open meanwhile. A verified domain whose record is missing stays verified
   * for now, and no user joins by it (`DomainChecks`).
   * @throws SlipwayError `domain.not-verified`, `domain.taken`, `domain.lookup-failed`, `resource.not-found`
   */
  async verify(caller: Principal, name: string): Promise<OrgDomain> {
    const domain = domainOf(name);
    const { record, state } = await inOrg(this.pool, caller.orgId, (client) =>
      this.present(client, caller.orgId, domain),
    );
    if (state === 'verified') {
      await this.checks.check(caller.orgId, domain);
      return inOrg(this.pool, caller.orgId, (client) => this.present(client, caller.orgId, domain));
    }
    const found = (await this.lookup.find(record.name)).includes(record.value);
    const answer = await inOrg(this.pool, caller.orgId, async (client) => {
      await this.kept(client, caller.orgId);
      const before = await this.present(client, caller.orgId, domain);
      // Released and claimed again meanwhile: what was found is the record of the claim before.
      const proved = found && before.record.value === record.value;
      await (proved
        ? markVerified(client, caller.orgId, domain)
        : markChecked(client, caller.orgId, domain, 'unknown'));
      if (proved && before.state === 'pending')
        await client.query(auditOf(this.ids.uuid(), caller, { action: 'domain.verify', target: domain }));
      return this.present(client, caller.orgId, domain);
    }).catch((error: unknown) => {
      if ((error as { code?: unknown } | null)?.code !== '23505') throw error;
      throw new SlipwayError('domain.taken', `${domain} belongs to another organization of this installation.`, {
        cause: error,
      });
    });
    if (answer.state === 'verified') return answer;
    throw new SlipwayError(
      'domain.not-verified',
      `There is no TXT record ${record.name} with the value ${record.value}.`,
    );
  }

  /**
   * @throws SlipwayError `domain.not-verified` for joining by an unverified domain, `resource.not-found`,
   * `org.being-deleted`
   */
  update(caller: Principal, name: string, { autoJoinRole }: UpdateDomain): Promise<OrgDomain> {
    const domain = domainOf(name);
    return inOrg(this.pool, caller.orgId, async (client) => {
      await this.kept(client, caller.orgId);
      const before = await this.present(client, caller.orgId, domain);
      if (before.state === 'pending' && autoJoinRole !== null)
        throw new SlipwayError('domain.not-verified', `${domain} has not been verified yet.`);
      if (before.autoJoinRole !== autoJoinRole) {
        await setAutoJoinRole(client, caller.orgId, domain, autoJoinRole);
        await client.query(
          auditOf(this.ids.uuid(), caller, {
            action: 'domain.update',
            target: domain,
            before: { autoJoinRole: before.autoJoinRole },
            after: { autoJoinRole },
          }),
        );
      }
      return this.present(client, caller.orgId, domain);
    });
  }

  /** @throws SlipwayError `resource.not-found`, `org.being-deleted` */
  async release(caller: Principal, name: string): Promise<void> {
    const domain = domainOf(name);
    await inOrg(this.pool, caller.orgId, async (client) => {
      await this.kept(client, caller.orgId);
      const { state, autoJoinRole } = await this.present(client, caller.orgId, domain);
      await deleteDomain(client, caller.orgId, domain);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'domain.release', target: domain, before: { state, autoJoinRole } }),
      );
    });
  }

  private async kept(client: PoolClient, orgId: string): Promise<void> {
    const org = await lockOrg(client, orgId);
    if (org === null) throw notFound();
    assertKept(org);
  }

  private async present(client: PoolClient, orgId: string, domain: string): Promise<OrgDomain> {
    const row = await findDomain(client, orgId, domain);
    if (row === null) throw notFound();
    return toDomain(row);
  }
}

function toDomain(row: DomainRow): OrgDomain {
  return {
    domain: row.domain,
    state: row.verified_at === null ? 'pending' : 'verified',
    record: recordOf(row),
    autoJoinRole: row.auto_join_role,
    createdAt: row.created_at.toISOString(),
    verifiedAt: row.verified_at?.toISOString() ?? null,
    checkedAt: row.checked_at?.toISOString() ?? null,
    recordMissingSince: row.missing_since?.toISOString() ?? null,
  };
}

/** @throws SlipwayError `resource.not-found` for what is no domain: the answer of a missing one. */
function domainOf(name: string): string {
  const domain = DomainName.safeParse(name);
  if (!domain.success) throw notFound();
  return domain.data;
}

import { Inject, Injectable } from '@nestjs/common';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import { auditOf } from '../../audit/audit-statement.js';
import { IDS, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { addMember, hasLeft, lockOrg } from '../members/membership.queries.js';
import { DomainChecks } from './domain-checks.js';
import { findAutoJoin, findConfirmedUser } from './domains.queries.js';

/** Membership by the domain of a confirmed e-mail address. */
@Injectable()
export class DomainJoin {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly checks: DomainChecks,
  ) {}

  /**
   * At a sign-in: makes a user with a confirmed address a member of the organization that their domain belongs to, if
   * it takes them in. Not one who has left it or was removed: an invitation brings them back. Never blocks the sign-in:
   * what fails is logged, and tried again at the next.
   * @returns the organization that was joined.
   */
  async joinByDomain(userId: string): Promise<string | null> {
    try {
      const user = await findConfirmedUser(this.pool, userId);
      const domain = user?.email.slice(user.email.lastIndexOf('@') + 1) ?? '';
      const found = user === null ? null : await findAutoJoin(this.pool, domain);
      if (user === null || found === null || !(await this.checks.mayJoinBy(found.orgId, domain))) return null;
      return await inOrg(this.pool, found.orgId, async (client) => {
        const org = await lockOrg(client, found.orgId);
        if (org === null || org.deletes_at !== null || (await hasLeft(client, org.id, userId))) return null;
        if (!(await addMember(client, org.id, { userId, role: found.role, source: 'domain' }))) return null;
        await client.query(
          auditOf(
            this.ids.uuid(),
            { orgId: org.id, actor: { kind: 'user', id: userId, label: user.name } },
            { action: 'member.join', target: userId, detail: { source: 'domain' }, after: { role: found.role } },
          ),
        );
        return org.id;
      });
    } catch (error) {
      this.logger.warn({ err: error, user_id: userId }, 'failed to join a user by their domain');
      return null;
    }
  }
}

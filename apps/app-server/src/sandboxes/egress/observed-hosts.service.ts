import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { ObservedHostList } from '@slipway/contracts/sandboxes';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { decideEgress, EGRESS_OPEN_PORTS, type EgressRuleOf, readHostPattern } from '@slipway/net';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import { listRules } from './egress-rules.queries.js';
import { listObserved } from './observed-hosts.queries.js';
import { limitsOf } from './rule-limits.js';

/** What sandboxes reached while they were observed: the rules that an organization may want to write. */
@Injectable()
export class ObservedHostsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  list({ orgId }: Principal): Promise<ObservedHostList> {
    return inOrg(this.pool, orgId, async (client) => {
      const rules = (await listRules(client, orgId)).flatMap(
        ({ id, scope, host, action, once, expiresAt, ...rule }) => {
          const pattern = readHostPattern(host);
          if (scope !== 'organization' || pattern === null) return [];
          const endsAt = expiresAt === null ? null : Date.parse(expiresAt);
          return [{ id, scope, pattern, action, once, endsAt, limits: limitsOf(rule) } satisfies EgressRuleOf];
        },
      );
      const now = this.clock.now().getTime();
      const data = (await listObserved(client, orgId)).filter(({ host, port }) => {
        const { verdict, opened } = decideEgress(rules, EGRESS_OPEN_PORTS, { host, port, now, openedBy: null });
        return verdict === 'unknown' && !opened;
      });
      return { data };
    });
  }
}

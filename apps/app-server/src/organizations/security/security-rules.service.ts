import { Inject, Injectable } from '@nestjs/common';
import type {
  Principal,
  SecurityRules,
  SecurityRuleValues,
  UpdateSecurityRules,
} from '@slipway/contracts/organizations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { IDS, SQL_POOL } from '../../platform/tokens.js';
import { hadSecondFactor, lockSecurityRules, readSecurityRules, writeSecurityRules } from './security-rules.queries.js';

/** What the organization asks of its members' sign-ins. */
@Injectable()
export class SecurityRulesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async get(caller: Principal): Promise<SecurityRules> {
    const rules = await inOrg(this.pool, caller.orgId, (client) => readSecurityRules(client, caller.orgId));
    if (rules === null) throw notFound();
    return rules;
  }

  /**
   * @param sessionId the caller's own; `null`: an API key, which cannot switch the second factor on, only off.
   * @param ifMatch the ETag of what the caller has read; `undefined` or `*`: the change is applied to whatever is
   * there.
   * @throws SlipwayError `settings.changed` when there is a newer version, `security.second-factor-first`
   */
  update(
    caller: Principal,
    sessionId: string | null,
    change: UpdateSecurityRules,
    ifMatch: string | undefined,
  ): Promise<SecurityRules> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const found = await lockSecurityRules(client, caller.orgId);
      if (found === null) throw notFound();
      const { version, ...before } = found;
      if (
        ifMatch !== undefined &&
        ifMatch.trim() !== '*' &&
        !ifMatch.split(',').some((tag) => tag.trim() === `"${version}"`)
      )
        throw new SlipwayError('settings.changed', 'The rules were changed by another user.');
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      const after: SecurityRuleValues = { ...before, ...given };
      const changed = (Object.keys(given) as Array<keyof SecurityRuleValues>).filter(
        (key) => before[key] !== after[key],
      );
      if (changed.length === 0) return found;
      if (
        after.secondFactor &&
        !before.secondFactor &&
        !(sessionId !== null && (await hadSecondFactor(client, sessionId)))
      )
        throw new SlipwayError('security.second-factor-first', 'The rule would shut out who switches it on.');
      const next = await writeSecurityRules(client, caller.orgId, after);
      const only = (values: SecurityRuleValues): Record<string, unknown> =>
        Object.fromEntries(changed.map((key) => [key, values[key]]));
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'security.update',
          target: caller.orgId,
          before: only(before),
          after: only(after),
        }),
      );
      return { ...after, version: next };
    });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import {
  type CreatedEgressRules,
  type CreateEgressRule,
  type CreateEgressRules,
  type EgressRule,
  type EgressRuleList,
  MAX_EGRESS_RULES,
} from '@slipway/contracts/sandboxes';
import { repositoryKey } from '@slipway/contracts/secrets';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type Clock, type Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { readHostPattern } from '@slipway/net';
import { OrgHosts } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { lockOrgSettings, readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { countRules, deleteRule, insertRule, listRules } from './egress-rules.queries.js';
import { assertMayRule } from './rule-four-eyes.js';
import { assertJudged, limitsOf } from './rule-limits.js';
import { assertOffered, rulePattern } from './rule-pattern.js';

const HOUR_MS = 3_600_000;

/**
 * Which hosts sandboxes of an organization reach, written by its admins. What changes reaches egress-proxy at commit.
 */
@Injectable()
export class EgressRulesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly hosts: OrgHosts,
  ) {}

  private get opensHosts(): boolean {
    return this.config.CREDENTIAL_CONTROL_SECRET !== undefined;
  }

  list({ orgId }: Principal): Promise<EgressRuleList> {
    return inOrg(this.pool, orgId, async (client) => ({
      data: await listRules(client, orgId),
      unknown: (await readOrgSettings(client, orgId)).egressUnknown,
      enforced: this.config.EGRESS_CONTROL_SECRET !== undefined,
      opensHosts: this.opensHosts,
    }));
  }

  /**
   * @throws SlipwayError `request.invalid`, `egress.too-wide`, `egress.not-offered`, `egress.no-broker`,
   * `settings.too-many`, `conversation.four-eyes`.
   */
  create(caller: Principal, body: CreateEgressRule): Promise<EgressRule> {
    return inOrg(this.pool, caller.orgId, (client) => this.write(client, caller, body));
  }

  /** All or none. @throws SlipwayError as `create`, with the host of the rule that may not be written. */
  createAll(caller: Principal, { rules }: CreateEgressRules): Promise<CreatedEgressRules> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const data: EgressRule[] = [];
      for (const [index, body] of rules.entries())
        data.push(
          await this.write(client, caller, body).catch((error: unknown) => {
            throw ofOneRule(error, body.host, index);
          }),
        );
      return { data };
    });
  }

  private async write(client: PoolClient, caller: Principal, body: CreateEgressRule): Promise<EgressRule> {
    const pattern = rulePattern(body.host);
    const { action, reason, expiresInHours } = body;
    const limits = limitsOf(body);
    // A limited one may be about a host that the installation lists.
    if (action === 'allow' && limits === null) assertOffered(pattern, this.hosts);
    assertJudged(limits, pattern, this.opensHosts);
    const scope = scopeOf(body);
    if ((await lockOrgSettings(client, caller.orgId)) === null) throw notFound();
    // A refusal is never one too many.
    if (action === 'allow' && (await countRules(client, caller.orgId)) >= MAX_EGRESS_RULES)
      throw new SlipwayError('settings.too-many', `There are ${MAX_EGRESS_RULES} rules already.`);
    if (action === 'allow')
      await assertMayRule(client, caller, {
        pattern,
        conversation: scope.scope === 'conversation' ? scope.scopeValue : null,
      });
    const expiresAt =
      expiresInHours === undefined ? null : new Date(this.clock.now().getTime() + expiresInHours * HOUR_MS);
    const rule = await insertRule(
      client,
      caller.orgId,
      {
        ...scope,
        id: this.ids.prefixed('egr'),
        action,
        reason,
        pattern,
        limits,
        once: false,
        expiresAt,
        requestId: null,
      },
      caller.actor,
    );
    await client.query(
      auditOf(this.ids.uuid(), caller, { action: 'egress-rule.create', target: rule.id, after: inWords(rule) }),
    );
    return rule;
  }

  /**
   * @throws SlipwayError `resource.not-found`; `conversation.four-eyes` for a refusal that is in the way of a request.
   */
  delete(caller: Principal, id: string): Promise<void> {
    return inOrg(this.pool, caller.orgId, async (client) => {
      const rule = await deleteRule(client, caller.orgId, id);
      if (rule === null) throw notFound();
      const pattern = readHostPattern(rule.host);
      if (rule.action === 'deny' && pattern !== null)
        await assertMayRule(client, caller, {
          pattern,
          conversation: rule.scope === 'conversation' ? rule.scopeValue : null,
        });
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'egress-rule.delete', target: id, before: inWords(rule) }),
      );
    });
  }
}

/** The same failure, with the rule that it is about. */
function ofOneRule(error: unknown, host: string, index: number): unknown {
  if (!(error instanceof SlipwayError)) return error;
  const { code, detail, more } = error;
  return new SlipwayError(code, `${host}: ${detail} No rule was added.`, {
    ...more,
    ...(more.fields === undefined
      ? {}
      : { fields: more.fields.map(({ path, message }) => ({ path: `rules.${index}.${path}`, message })) }),
  });
}

/** What of a rule stands in the audit. */
export function inWords({
  scope,
  scopeValue,
  host,
  action,
  once,
  expiresAt,
  reason,
  ...rule
}: EgressRule): Record<string, unknown> {
  const limits = limitsOf({ action, ...rule });
  return { scope, scopeValue, host, action, once, expiresAt, reason, ...(limits === null ? {} : { limits }) };
}

/** @throws SlipwayError `request.invalid` for a scope without its value, and the organization with one. */
export function scopeOf({ scope, scopeValue }: CreateEgressRule): Pick<CreateEgressRule, 'scope' | 'scopeValue'> {
  if ((scope === 'organization') !== (scopeValue === null)) {
    const message = scope === 'organization' ? 'is not of the scope organization' : `names the ${scope} of the rule`;
    throw new SlipwayError('request.invalid', `scopeValue: ${message}`, { fields: [{ path: 'scopeValue', message }] });
  }
  if (scope === 'repository' && scopeValue !== null) {
    if (URL.canParse(scopeValue)) return { scope, scopeValue: repositoryKey(scopeValue) };
    const message = 'is no URL of a repository';
    throw new SlipwayError('request.invalid', `scopeValue: ${message}`, { fields: [{ path: 'scopeValue', message }] });
  }
  return { scope, scopeValue: scope === 'conversation' ? (scopeValue?.toLowerCase() ?? null) : scopeValue };
}

import { Inject, Injectable } from '@nestjs/common';
import type { OrgSettings, Principal } from '@slipway/contracts/organizations';
import {
  type AnswerEgressRequest,
  EGRESS_ONCE_SECONDS,
  type EgressRequest,
  type EgressRequestList,
  MAX_EGRESS_RULES,
} from '@slipway/contracts/sandboxes';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type Clock, type Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { assertFourEyes } from '../../conversations/confirmation/four-eyes.js';
import { lockSandbox } from '../../conversations/conversations.queries.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { CLOCK, CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import { AnswerUseService } from '../credential-uses/answer-use.service.js';
import { listUseRequests } from '../credential-uses/credential-uses.queries.js';
import { USE_REQUEST } from '../credential-uses/credential-uses.service.js';
import { egressEvent, observes } from './egress-decisions.service.js';
import { notifyAgent, type ToNotify } from './egress-notice.js';
import { decideRequest, listRequests, readRequest } from './egress-requests.queries.js';
import { countRules, insertRule } from './egress-rules.queries.js';
import { sentBy } from './egress-traffic.queries.js';
import { assertJudged, limitsOf } from './rule-limits.js';
import { comparedHost, rulePattern } from './rule-pattern.js';

/** Requests of a conversation that are listed. */
const MAX_LISTED = 200;

/** Users' answers to sandboxes that ask for a host. */
@Injectable()
export class EgressRequestsService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ingest: IngestService,
    @Inject(CONFIG) private readonly config: Config,
    private readonly jobs: Jobs,
    private readonly uses: AnswerUseService,
  ) {}

  /** @throws SlipwayError `resource.not-found` */
  list({ orgId }: Principal, conversationId: string): Promise<EgressRequestList> {
    return inOrg(this.pool, orgId, async (client) => {
      const { rowCount } = await client.query('SELECT 1 FROM app.conversation WHERE org_id = $1 AND id = $2', [
        orgId,
        conversationId,
      ]);
      if (rowCount === 0) throw notFound();
      return {
        data: newest(
          await listRequests(client, orgId, conversationId),
          await listUseRequests(client, orgId, conversationId),
        ),
        sent: await sentBy(client, orgId, conversationId),
        unknown: unknownOf(await readOrgSettings(client, orgId), this.config.EGRESS_CONTROL_SECRET !== undefined),
        opensHosts: this.config.CREDENTIAL_CONTROL_SECRET !== undefined,
      };
    });
  }

  /**
   * Request, rule, event and audit entry in one transaction: egress-proxy hears of the rule at its commit, so no byte
   * leaves before the entry is in the chain.
   * @throws SlipwayError `resource.not-found`, `egress.already-answered`, `egress.too-wide`, `egress.no-broker`,
   * `credential.changed`, `request.invalid`, `conversation.four-eyes`, `permission.denied` for the whole organization
   * without `egress:write`.
   */
  async answer(
    caller: Principal,
    { conversationId, id }: { readonly conversationId: string; readonly id: string },
    answer: AnswerEgressRequest,
  ): Promise<EgressRequest> {
    if (id.startsWith(`${USE_REQUEST}_`)) return this.uses.answer(caller, { conversationId, id }, answer);
    const allows = answer.decision === 'allow';
    if (allows && answer.scope === 'organization' && !caller.permissions.has('egress:write'))
      throw new SlipwayError('permission.denied', 'This needs the permission egress:write.');
    const { decided, publish, notifies } = await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockSandbox(client, caller.orgId, conversationId);
      const request = row === null ? null : await readRequest(client, caller.orgId, { conversationId, id });
      if (row === null || request === null) throw notFound();
      if (request.state !== 'waiting' || comparedHost(answer.host) !== request.host || answer.port !== request.port)
        throw new SlipwayError(
          'egress.already-answered',
          request.state === 'waiting'
            ? 'The request is for another host than the one that was answered.'
            : `It was ${request.state}${request.decidedBy === null ? '' : ` by ${request.decidedBy}`}.`,
        );
      const fourEyes = allows && (await assertFourEyes(client, caller, conversationId));
      const after = await decideRequest(client, caller.orgId, id, { answer, by: caller.actor });
      const rule = allows ? await this.allow(client, caller, { conversationId, request, answer }) : null;
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: allows ? 'egress-request.allow' : 'egress-request.deny',
          target: `${conversationId}:${id}`,
          detail: {
            host: request.host,
            port: request.port,
            ...(allows ? { scope: answer.scope } : {}),
            ...(answer.methods === undefined ? {} : { methods: answer.methods }),
            ...(answer.paths === undefined ? {} : { paths: answer.paths }),
            ...(rule === null ? {} : { rule }),
            ...(fourEyes ? { fourEyes } : {}),
            ...(answer.reason === '' ? {} : { reason: answer.reason }),
          },
        }),
      );
      const events = [egressEvent(this.ids, this.clock, 'user', after)];
      return {
        decided: after,
        notifies: await this.notify(client, caller.orgId, { conversationId, row, request: after }),
        publish: await this.ingest.appendPlatform(client, caller.orgId, conversationId, { events, row }),
      };
    });
    publish();
    if (notifies) this.jobs.enqueue('conversation-deliver', caller.orgId, conversationId);
    return decided;
  }

  /** @returns whether a word to the agent is to be delivered. */
  private async notify(client: PoolClient, orgId: string, about: Omit<ToNotify, 'start'>): Promise<boolean> {
    const { egressAnswered } = await readOrgSettings(client, orgId);
    return notifyAgent(client, orgId, this.ids, { ...about, start: egressAnswered === 'start' });
  }

  /** @returns the id of the rule. */
  private async allow(
    client: PoolClient,
    caller: Principal,
    {
      conversationId,
      request,
      answer: { scope, reason, methods, paths },
    }: { readonly conversationId: string; readonly request: EgressRequest; readonly answer: AnswerEgressRequest },
  ): Promise<string> {
    const named = request.host.includes(':') ? `[${request.host}]` : request.host;
    const pattern = rulePattern(`${named}:${request.port}`);
    const limits = limitsOf({ methods, paths });
    assertJudged(limits, pattern, this.config.CREDENTIAL_CONTROL_SECRET !== undefined);
    const wide = scope === 'organization';
    if (wide && (await countRules(client, caller.orgId)) >= MAX_EGRESS_RULES)
      throw new SlipwayError('settings.too-many', `There are ${MAX_EGRESS_RULES} rules already.`);
    const once = scope === 'once';
    const expiresAt = once ? new Date(this.clock.now().getTime() + EGRESS_ONCE_SECONDS * 1_000) : null;
    const rule = await insertRule(
      client,
      caller.orgId,
      {
        id: this.ids.prefixed('egr'),
        scope: wide ? 'organization' : 'conversation',
        scopeValue: wide ? null : conversationId,
        action: 'allow',
        reason,
        pattern,
        limits,
        once,
        expiresAt,
        requestId: request.id,
      },
      caller.actor,
    );
    return rule.id;
  }
}

/** Both lists as one of the newest 200. */
function newest(hosts: EgressRequest[], uses: EgressRequest[]): EgressRequest[] {
  if (uses.length === 0) return hosts;
  return [...hosts, ...uses].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt)).slice(0, MAX_LISTED);
}

/** What happens in fact: nothing is recorded where no egress-proxy asks. */
function unknownOf(settings: OrgSettings, enforced: boolean): EgressRequestList['unknown'] {
  const { egressUnknown } = settings;
  return egressUnknown === 'observe' && !(enforced && observes(settings)) ? 'ask' : egressUnknown;
}

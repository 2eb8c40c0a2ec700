import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '@slipway/contracts/organizations';
import type { AnswerEgressRequest, EgressRequest } from '@slipway/contracts/sandboxes';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { auditOf } from '../../audit/audit-statement.js';
import { assertFourEyes } from '../../conversations/confirmation/four-eyes.js';
import { lockSandbox } from '../../conversations/conversations.queries.js';
import { IngestService } from '../../log/ingest/ingest.service.js';
import { readOrgSettings } from '../../organizations/org-settings/org-settings.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { CLOCK, IDS, SQL_POOL } from '../../platform/tokens.js';
import { egressEvent } from '../egress/egress-decisions.service.js';
import { notifyAgent } from '../egress/egress-notice.js';
import { comparedHost } from '../egress/rule-pattern.js';
import { decideUseRequest, readUseRequest, shareCredential, type UseRequest } from './credential-uses.queries.js';
import { placeKey } from './use-keys.js';

/** Users' answers to sandboxes that ask to use a credential. A yes is the answered request itself; there is no rule. */
@Injectable()
export class AnswerUseService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly ingest: IngestService,
    private readonly jobs: Jobs,
  ) {}

  /**
   * Answer, event and audit entry in one transaction: the entry is in the chain before the credential is used.
   * @throws SlipwayError `resource.not-found`, `egress.already-answered`, `credential.changed`, `request.invalid`,
   * `conversation.four-eyes`.
   */
  async answer(
    caller: Principal,
    { conversationId, id }: { readonly conversationId: string; readonly id: string },
    answer: AnswerEgressRequest,
  ): Promise<EgressRequest> {
    const { orgId, actor } = caller;
    const allows = answer.decision === 'allow';
    const { decided, publish, notifies } = await inOrg(this.pool, orgId, async (client) => {
      const row = await lockSandbox(client, orgId, conversationId);
      const found = row === null ? null : await readUseRequest(client, orgId, { conversationId, id });
      if (row === null || found === null) throw notFound();
      assertWaits(found, answer);
      if (allows) {
        assertScope(found, answer);
        await assertHolds(client, orgId, found);
      }
      const fourEyes = allows && (await assertFourEyes(client, caller, conversationId));
      const scope = allows && answer.scope === 'once' ? 'once' : 'conversation';
      const after = await decideUseRequest(client, orgId, id, {
        state: allows ? 'allowed' : 'denied',
        scope,
        reason: answer.reason,
        by: actor,
      });
      const { use, host, port } = found.request;
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: allows ? 'credential-use.allow' : 'credential-use.deny',
          target: `${conversationId}:${id}`,
          detail: {
            credential: use.credential.id,
            name: use.credential.name,
            host,
            port,
            method: use.method,
            ...(use.refs.length === 0 ? {} : { refs: use.refs }),
            ...(allows ? { scope } : {}),
            ...(fourEyes ? { fourEyes } : {}),
            ...(answer.reason === '' ? {} : { reason: answer.reason }),
          },
        }),
      );
      const { egressAnswered } = await readOrgSettings(client, orgId);
      const about = { conversationId, row, request: after, start: egressAnswered === 'start' };
      return {
        decided: after,
        notifies: await notifyAgent(client, orgId, this.ids, about),
        publish: await this.ingest.appendPlatform(client, orgId, conversationId, {
          events: [egressEvent(this.ids, this.clock, 'user', after)],
          row,
        }),
      };
    });
    publish();
    if (notifies) this.jobs.enqueue('conversation-deliver', orgId, conversationId);
    return decided;
  }
}

function assertWaits({ request }: UseRequest, { host, port }: AnswerEgressRequest): void {
  if (request.state !== 'waiting')
    throw new SlipwayError(
      'egress.already-answered',
      `It was ${request.state}${request.decidedBy === null ? '' : ` by ${request.decidedBy}`}.`,
    );
  if (comparedHost(host) !== request.host || port !== request.port)
    throw new SlipwayError(
      'egress.already-answered',
      'The request is for another host than the one that was answered.',
    );
}

/** A yes is as wide as the place lets it be; an admin who wants more changes the credential. */
function assertScope({ request: { use } }: UseRequest, { scope, methods, paths }: AnswerEgressRequest): void {
  const wrong =
    methods !== undefined || paths !== undefined
      ? { path: 'methods', message: 'and paths are of a host: those of a credential are its place' }
      : scope === 'organization'
        ? { path: 'scope', message: 'is once or conversation: for the organization an admin changes the credential' }
        : scope === 'conversation' && use.ask === 'each-use'
          ? { path: 'scope', message: 'is once: this place asks for each use' }
          : null;
  if (wrong !== null) throw new SlipwayError('request.invalid', `${wrong.path}: ${wrong.message}`, { fields: [wrong] });
}

/** The credential has the place that was asked for, and may be used. */
async function assertHolds(
  client: PoolClient,
  orgId: string,
  { credentialId, placeKey: key }: UseRequest,
): Promise<void> {
  const credential = await shareCredential(client, orgId, credentialId);
  if (credential === null || !credential.use.places.some((place) => placeKey(place) === key))
    throw new SlipwayError('credential.changed', 'Its places are others now, or it is not used any more.');
}

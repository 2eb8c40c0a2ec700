import { Inject, Injectable } from '@nestjs/common';
import { Envelope } from '@slipway/auth/envelope';
import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';
import { type QueuePayload } from '@slipway/contracts/operate';
import { type Principal, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { readTail } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type Clock, pendingActions } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type Press, type Provider, waitingActions } from '@slipway/integrations';
import {
  claimDeed,
  type DecidedDelivery,
  type Decision,
  examine,
  findDelivery,
  lockUndecided,
  noteAttempt,
  noticeOf,
  type StoredDelivery,
  wantNotice,
  writeDecision,
} from '@slipway/integrations/deliveries';
import { currentContext, type Logger, runInContext } from '@slipway/telemetry';
import { modeOf } from '../../conversations/confirmation/confirmation.queries.js';
import { ConfirmationService } from '../../conversations/confirmation/confirmation.service.js';
import { RunControlService } from '../../conversations/run-control.service.js';
import { readSecurityRules } from '../../organizations/security/security-rules.queries.js';
import { Jobs } from '../../platform/jobs.js';
import { CLOCK, LOGGER, SQL_POOL } from '../../platform/tokens.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';
import { dropQueuedPress, findQueuedPress, wantShown } from './presses.queries.js';

/** So long after a press its answer is given no more: whoever pressed has seen that nothing happened. Milliseconds. */
const LATE_MS = 10 * 60_000;

type Outcome = Pick<DecidedDelivery, 'state' | 'code'>;
type Decided = Outcome & { readonly detail?: string | null };

/**
 * Does what a pressed button of a thread says, as the linked user and by the services that the page uses: worker has
 * decided that it is a press, and hands it here. The delivery keeps the press until its decision is written, so a
 * process that dies, or a sandbox that does not answer, repeats it: the first answer counts.
 */
@Injectable()
export class PressesService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly envelope: Envelope,
    private readonly confirmation: ConfirmationService,
    private readonly control: RunControlService,
    private readonly jobs: Jobs,
  ) {}

  /** @throws what keeps it from being decided now; it is repeated then. */
  async run({ orgId, deliveryId }: QueuePayload<'integration-press'>): Promise<void> {
    const [queued, stored] = await inOrg(this.pool, orgId, async (client) => [
      await findQueuedPress(client, deliveryId),
      await findDelivery(client, orgId, deliveryId),
    ]);
    if (stored?.state === 'received') {
      try {
        // The audit names the delivery as the request.
        const context = { traceId: currentContext()?.traceId ?? '', requestId: deliveryId };
        await runInContext(context, () => this.decide(stored));
      } catch (error) {
        await noteAttempt(this.pool, orgId, deliveryId).catch(() => {});
        throw error;
      }
    }
    if (queued !== null) await inOrg(this.pool, orgId, (client) => dropQueuedPress(client, queued));
  }

  private async decide(stored: StoredDelivery): Promise<void> {
    const { id, orgId, connection } = stored;
    const { reading, decision, standing } = await examine(
      this.pool,
      this.envelope,
      this.providers.get(connection.provider),
      stored,
    );
    const outcome: Decided =
      decision.state === 'act' ? await this.act(stored, decision, standing?.thread?.conversationId ?? null) : decision;
    const intent = reading.kind === 'intent' ? reading.intent : null;
    const conversationId = standing?.thread?.conversationId ?? null;
    const said = await inOrg(this.pool, orgId, async (client) => {
      if (!(await lockUndecided(client, orgId, id))) return null;
      if (intent !== null && outcome.state === 'done')
        await claimDeed(
          client,
          orgId,
          { provider: connection.provider, host: connection.host, semanticKey: intent.semanticKey },
          id,
        );
      await writeDecision(client, orgId, id, {
        ...outcome,
        detail: outcome.detail ?? null,
        semanticKey: intent?.semanticKey ?? null,
        conversationId,
      });
      if (conversationId !== null) await wantShown(client, orgId, conversationId);
      const notice = outcome.state === 'refused' && intent !== null ? noticeOf(outcome.code, intent) : null;
      return notice === null || intent === null
        ? null
        : wantNotice(client, orgId, { connectionId: connection.id, thread: intent.thread, notice, deed: null });
    });
    this.logger.info(
      { delivery_id: id, connection_id: connection.id, state: outcome.state, reason: outcome.code },
      'press decided',
    );
    if (conversationId !== null) this.jobs.enqueueAs('integration-answer', conversationId, { orgId, conversationId });
    if (said !== null) this.jobs.enqueueAs('integration-notice', said, { orgId, answerId: said });
  }

  private async act(
    stored: StoredDelivery,
    decision: Extract<Decision, { state: 'act' }>,
    conversationId: string | null,
  ): Promise<Outcome> {
    const { intent, actor } = decision;
    if (decision.act !== 'press' || intent.press === undefined || conversationId === null || actor.role === null)
      return { state: 'ignored', code: 'answered-already' };
    if (this.clock.now().getTime() - stored.receivedAt.getTime() > LATE_MS)
      return { state: 'refused', code: 'answer-late' };
    const caller: Principal = {
      orgId: stored.orgId,
      actor: { kind: 'user', id: actor.userId, label: actor.label },
      permissions: new Set(ROLE_PERMISSIONS[actor.role]),
    };
    try {
      if (intent.press.kind === 'stop') {
        await this.control.stop(caller, conversationId);
        return { state: 'done', code: 'run-stopped' };
      }
      // Whoever holds a Slack account alone says no, and no yes. Rules of sessions are asked nowhere else on this way.
      if (intent.press.kind === 'approve' && (await this.wantsSecondFactor(stored.orgId)))
        return { state: 'refused', code: 'second-factor' };
      return await this.answer(caller, conversationId, intent.press, stored);
    } catch (error) {
      if (!(error instanceof SlipwayError)) throw error;
      switch (error.code) {
        case 'conversation.four-eyes':
          return { state: 'refused', code: 'four-eyes' };
        case 'conversation.nothing-to-confirm':
          return this.afterwards(caller, conversationId, intent.press, stored);
        case 'resource.not-found':
          return { state: 'ignored', code: 'answered-already' };
        default:
          throw error;
      }
    }
  }

  /** @throws SlipwayError as the page's answer does. */
  private async answer(caller: Principal, id: string, press: Press, stored: StoredDelivery): Promise<Outcome> {
    const pending = pendingActions(await this.tailOf(caller.orgId, id));
    const accept = press.kind === 'approve';
    const waits = pending.length === 0 ? null : waitingActions(id, pending);
    if (waits === null || waits.name !== press.of || (accept && !waits.whole))
      return this.afterwards(caller, id, press, stored);
    const reason = `Rejected in ${this.providers.get(stored.connection.provider)?.name ?? 'a thread'}.`;
    await this.confirmation.answer(caller, id, {
      accept,
      actionIds: pending.map((action) => action.id),
      ...(accept ? {} : { reason }),
    });
    return { state: 'done', code: accept ? 'approved' : 'rejected' };
  }

  /** Nothing waits: this very press may have been the answer, by a process that died before it could write so down. */
  private async afterwards(
    caller: Principal,
    id: string,
    { kind }: Press,
    { receivedAt }: StoredDelivery,
  ): Promise<Outcome> {
    const said = (await this.tailOf(caller.orgId, id)).some((event) => {
      const answer = stateValueOf(event, 'confirmation');
      return (
        answer?.by_id === caller.actor.id &&
        answer.accepted === (kind === 'approve') &&
        Date.parse(event.timestamp) >= receivedAt.getTime()
      );
    });
    return said
      ? { state: 'done', code: kind === 'approve' ? 'approved' : 'rejected' }
      : { state: 'ignored', code: 'answered-already' };
  }

  private wantsSecondFactor(orgId: string): Promise<boolean> {
    return inOrg(this.pool, orgId, async (client) => (await readSecurityRules(client, orgId))?.secondFactor !== false);
  }

  private tailOf(orgId: string, id: string): Promise<ConversationEvent[]> {
    return inOrg(this.pool, orgId, async (client) =>
      readTail<ConversationEvent>(client, orgId, id, (await modeOf(client, orgId, id))?.head ?? 0),
    );
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';
import { type Principal, ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { readTail } from '@slipway/db/conversations';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type Clock, pendingActions } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { type Press, type Provider, waitingActions } from '@slipway/integrations';
import { type DecidedDelivery, type Decision, type StoredDelivery } from '@slipway/integrations/deliveries';
import { modeOf } from '../../conversations/confirmation/confirmation.queries.js';
import { ConfirmationService } from '../../conversations/confirmation/confirmation.service.js';
import { RunControlService } from '../../conversations/run-control.service.js';
import { readSecurityRules } from '../../organizations/security/security-rules.queries.js';
import { CLOCK, SQL_POOL } from '../../platform/tokens.js';
import { KNOWN_PROVIDERS } from '../known-providers.js';

/** So long after a press its answer is given no more: whoever pressed has seen that nothing happened. Milliseconds. */
const LATE_MS = 10 * 60_000;

export type PressOutcome = Pick<DecidedDelivery, 'state' | 'code'>;

/** Stops a run or answers what waits, as the linked user who pressed and by the services that the page uses. */
@Injectable()
export class PressActs {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly confirmation: ConfirmationService,
    private readonly control: RunControlService,
  ) {}

  async carryOut(
    stored: StoredDelivery,
    decision: Extract<Decision, { state: 'act' }>,
    conversationId: string | null,
  ): Promise<PressOutcome> {
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
  private async answer(caller: Principal, id: string, press: Press, stored: StoredDelivery): Promise<PressOutcome> {
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
  ): Promise<PressOutcome> {
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

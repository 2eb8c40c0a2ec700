import { isDeepStrictEqual } from 'node:util';
import { type EventStamp, stamp, statusUpdate } from '@slipway/agent';
import {
  type ConfirmationPolicy,
  type ConfirmationRule,
  ConfirmationSettings,
  type ConversationEvent,
  type RespondToConfirmationRequest,
  type SecurityAnalyzer,
  type StartConversationRequest,
} from '@slipway/contracts';
import { acceptedUnheard, CONFIRMATION_ANSWER, CONFIRMATION_SETTINGS, confirmationSettingsOf, pendingActions } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';

/** Said of what waited when a person wrote something else instead. */
export const ANSWERED_OTHERWISE = 'The user did not approve this and wrote a message instead.';
/** Said of what waited when the person stopped the agent. */
export const STOPPED = 'The user stopped the agent.';

/** The log, as far as this needs it. */
export interface ConfirmationLog {
  readonly events: readonly ConversationEvent[];
  append(events: readonly ConversationEvent[]): Promise<void>;
}

/**
 * What the agent asks a person before it acts, and the answers. All of it is in the log: a sandbox that is lost while it waits waits on in the next one.
 * Answers are taken one after the other; of two the first counts and the second is refused.
 */
export class Confirmation {
  private turn: Promise<unknown> = Promise.resolve();

  /** @param initial what the start asked for; holds as long as the log says nothing. */
  constructor(
    private readonly log: ConfirmationLog,
    private readonly stamps: EventStamp,
    private readonly initial: () => ConfirmationSettings,
  ) {}

  get settings(): ConfirmationSettings {
    return confirmationSettingsOf(this.log.events) ?? this.initial();
  }

  get waits(): boolean {
    return pendingActions(this.log.events).length > 0;
  }

  /** What a start of the app asks for holds over what the log says; rules that a person made stay. In the log only when it is something new. */
  adopt({ policy, analyzer }: ConfirmationSettings): Promise<void> {
    const known = confirmationSettingsOf(this.log.events);
    if (known === undefined ? policy.kind === 'NeverConfirm' : isDeepStrictEqual([known.policy, known.analyzer], [policy, analyzer])) return Promise.resolve();
    return this.change({ policy, analyzer });
  }

  setPolicy(policy: ConfirmationPolicy): Promise<void> {
    return this.change({ policy });
  }

  setAnalyzer(analyzer: SecurityAnalyzer | null): Promise<void> {
    return this.change({ analyzer });
  }

  /** What was allowed for the rest of the conversation is asked again. One that is not there changes nothing. */
  revoke({ tool_name, match, value }: Omit<ConfirmationRule, 'by'>): Promise<void> {
    return this.inTurn(async () => {
      const { settings } = this;
      const rules = settings.rules.filter((rule) => rule.tool_name !== tool_name || rule.match !== match || rule.value !== value);
      if (rules.length < settings.rules.length) await this.log.append([this.said({ ...settings, rules })]);
    });
  }

  /**
   * Takes a person's answer. @returns whether the agent is to go on.
   * @throws SlipwayError `conversation.nothing-to-confirm` when nothing waits, or something else than what was answered.
   */
  respond({ accept, reason, slipway }: RespondToConfirmationRequest): Promise<boolean> {
    return this.inTurn(async () => {
      const pending = pendingActions(this.log.events);
      const asked = slipway?.action_ids;
      if (
        pending.length === 0 ||
        acceptedUnheard(this.log.events) ||
        (asked !== undefined && (asked.length !== pending.length || pending.some(({ id }) => !asked.includes(id))))
      )
        throw new SlipwayError('conversation.nothing-to-confirm', 'What this answers no longer waits for an answer.');
      const by = slipway?.by === undefined ? {} : { by: slipway.by };
      const answer = stamp(this.stamps, {
        kind: 'ConversationStateUpdateEvent',
        source: 'user',
        key: CONFIRMATION_ANSWER,
        value: {
          accepted: accept,
          action_ids: pending.map(({ id }) => id),
          ...by,
          ...(accept ? {} : { reason }),
        },
      });
      const { settings } = this;
      const rule =
        accept && slipway?.rule !== undefined ? [this.said({ ...settings, rules: [...settings.rules, { ...slipway.rule, ...by }].slice(-100) })] : [];
      await this.log.append([answer, ...rule, ...(accept ? [] : this.rejections(reason))]);
      return accept || slipway?.run === true;
    });
  }

  /** Says no to whatever waits; nothing waits afterwards. */
  rejectPending(reason: string): Promise<void> {
    return this.inTurn(async () => {
      if (this.waits) await this.log.append(this.rejections(reason));
    });
  }

  private rejections(reason: string): ConversationEvent[] {
    const rejected = pendingActions(this.log.events).map((action) =>
      stamp(this.stamps, {
        kind: 'UserRejectObservation',
        source: 'environment',
        action_id: action.id,
        tool_name: action.tool_name,
        tool_call_id: action.tool_call_id,
        rejection_reason: reason,
        rejection_source: 'user',
        parent_id: action.id,
      }),
    );
    return [...rejected, statusUpdate(this.stamps, 'idle')];
  }

  private change(changed: Partial<ConfirmationSettings>): Promise<void> {
    return this.inTurn(() => this.log.append([this.said({ ...this.settings, ...changed })]));
  }

  private said(settings: ConfirmationSettings): ConversationEvent {
    return stamp(this.stamps, { kind: 'ConversationStateUpdateEvent', source: 'user', key: CONFIRMATION_SETTINGS, value: settings });
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.turn.then(work);
    this.turn = turn.catch(() => undefined);
    return turn;
  }
}

/** What a start asks for. */
export function initialSettings(request: Pick<StartConversationRequest, 'confirmation_policy' | 'security_analyzer'>): ConfirmationSettings {
  return ConfirmationSettings.parse({
    ...(request.confirmation_policy == null ? {} : { policy: request.confirmation_policy }),
    ...(request.security_analyzer == null ? {} : { analyzer: request.security_analyzer }),
  });
}

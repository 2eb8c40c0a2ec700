import { isDeepStrictEqual } from 'node:util';
import { type EventStamp, stamp, stampUpdate, statusUpdate } from '@slipway/agent';
import { type StartConversationRequest } from '@slipway/contracts/agent';
import {
  type ConfirmationAnswer,
  type ConfirmationPolicy,
  type ConfirmationRule,
  ConfirmationSettings,
  type SecurityAnalyzer,
} from '@slipway/contracts/conversations';
import { type ConversationEvent } from '@slipway/contracts/events';
import {
  confirmationSettingsOf,
  type DividedAnswer,
  divideAnswer,
  isAcceptedAndPending,
  namedActions,
  pendingActions,
  stricterSettings,
} from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Answer } from '../log/authors.js';

/** Said of what waited when a user wrote something else instead. */
export const ANSWERED_OTHERWISE = 'The user did not approve this and wrote a message instead.';
/** Said of what waited when the user stopped the agent. */
export const STOPPED = 'The user stopped the agent.';

type Asking = Pick<ConfirmationSettings, 'policy' | 'analyzer'>;

/** The log, as far as this needs it. */
export interface ConfirmationLog {
  readonly events: readonly ConversationEvent[];
  append(events: readonly ConversationEvent[]): Promise<void>;
}

/**
 * What the agent asks a user before it acts, and the answers. All of it is in the log: a sandbox that is lost while it
 * waits waits on in the next one. Answers are taken one after the other; of two the first counts and the second is
 * refused.
 */
export class Confirmation {
  private turn: Promise<unknown> = Promise.resolve();
  /** What the start asked for; holds as long as the log says nothing. */
  private initial = initialSettings({});
  /** What the app said last, and what came of it: settings that are others by now were made in the sandbox. */
  private applied: Asking = this.initial;
  /** What was set in the sandbox itself when the app last spoke; below it nothing goes that nobody chose. */
  private own: Asking | null = null;
  /** Actions that the app vouches for: it says so at a start, or gave the answer to this process. */
  private readonly vouched = new Set<string>();

  /** @param fourEyes true while the log alone accepts nothing: an ingest token writes it, and the sandbox. */
  constructor(
    private readonly log: ConfirmationLog,
    private readonly stamps: EventStamp,
    private readonly fourEyes: () => boolean,
  ) {}

  get settings(): ConfirmationSettings {
    return confirmationSettingsOf(this.log.events) ?? this.initial;
  }

  get waits(): boolean {
    return pendingActions(this.log.events).length > 0;
  }

  /** Was what waits accepted, by somebody who may, and has not begun? */
  get accepted(): boolean {
    return (
      isAcceptedAndPending(this.log.events) && this.mayCarryOut(pendingActions(this.log.events).map(({ id }) => id))
    );
  }

  /** Under four eyes only what the app vouches for, whatever the log says. */
  mayCarryOut(actionIds: readonly string[]): boolean {
    return !this.fourEyes() || actionIds.every((id) => this.vouched.has(id));
  }

  /** From the app itself, never from the log. */
  vouch(actionIds: readonly string[]): void {
    for (const id of actionIds) this.vouched.add(id);
  }

  begin(request: StartConversationRequest): void {
    this.initial = initialSettings(request);
  }

  /**
   * What a start of the app asks for holds over what the log says; rules that a user made stay. In the log only when it
   * is something new.
   */
  adopt(request: StartConversationRequest): Promise<void> {
    if (request.slipway === undefined || request.confirmation_policy == null) return Promise.resolve();
    const { policy, analyzer } = initialSettings(request);
    [this.applied, this.own] = [{ policy, analyzer }, null];
    const known = confirmationSettingsOf(this.log.events);
    if (known === undefined ? policy.kind === 'NeverConfirm' : isSame(known, { policy, analyzer }))
      return Promise.resolve();
    return this.change({ policy, analyzer });
  }

  /**
   * The app's policy holds from the agent's next step on; pending actions stay pending. `chosen`: also where the
   * sandbox itself set a stricter one.
   */
  applyFromApp({ policy, analyzer }: Asking, chosen: boolean): Promise<void> {
    return this.inTurn(async () => {
      const { settings, applied } = this;
      if (chosen) this.own = null;
      else if (!isSame(settings, applied)) this.own = { policy: settings.policy, analyzer: settings.analyzer };
      const next = this.own === null ? { policy, analyzer } : stricterSettings(this.own, { policy, analyzer });
      if (!isSame(settings, next)) await this.log.append([this.said({ ...settings, ...next })]);
      this.applied = next;
    });
  }

  /** Asks as often as this wants, or more often as before. */
  atLeast(floor: Asking): Promise<void> {
    return this.inTurn(async () => {
      const { settings } = this;
      const next = stricterSettings(settings, floor);
      if (!isSame(settings, next)) await this.log.append([this.said({ ...settings, ...next })]);
    });
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
      const rules = settings.rules.filter(
        (rule) => rule.tool_name !== tool_name || rule.match !== match || rule.value !== value,
      );
      if (rules.length < settings.rules.length) await this.log.append([this.said({ ...settings, rules })]);
    });
  }

  /**
   * Takes an answer: the only place where anything that waits is accepted. @returns the id of its event, and whether
   * the agent is to go on.
   * @throws SlipwayError `conversation.nothing-to-confirm` when nothing waits, or something else than what was
   * answered.
   */
  respond({ accept, reason, slipway, through }: Answer): Promise<{ id: string; goesOn: boolean }> {
    return this.inTurn(async () => {
      const pending = pendingActions(this.log.events);
      if (pending.length === 0 || this.accepted || !namesAll(pending, slipway))
        throw new SlipwayError('conversation.nothing-to-confirm', 'What this answers no longer waits for an answer.');
      const divided = divideAnswer(
        pending.map(({ id }) => id),
        { accept, reason, rejections: slipway?.rejections },
      );
      const approves = divided.approved.length > 0;
      const by = slipway?.by === undefined ? {} : { by: slipway.by };
      const always = approves ? slipway?.rule : undefined;
      const value: ConfirmationAnswer = {
        accepted: approves,
        action_ids: approves ? [...divided.approved] : pending.map(({ id }) => id),
        ...answererOf(slipway),
        ...(slipway?.by_id === undefined ? {} : { through }),
        ...(always === undefined ? {} : { always }),
        ...(approves ? {} : { reason }),
      };
      const answer = stampUpdate(this.stamps, { key: 'confirmation', value }, 'user');
      const { settings } = this;
      const rule =
        always === undefined
          ? []
          : [this.said({ ...settings, rules: [...settings.rules, { ...always, ...by }].slice(-100) })];
      // Those that are left when the rejected ones have their answer are exactly what the yes names: a restart between
      // the two reads it so.
      const rejected = this.rejections(divided.rejected);
      // OrgConfirmation.assertMayAnswer: under four eyes nobody but the app comes this far.
      if (this.fourEyes()) this.vouch(divided.approved);
      await this.log.append(
        approves ? [...rejected, answer, ...rule] : [answer, ...rejected, statusUpdate(this.stamps, 'idle')],
      );
      return { id: answer.id, goesOn: approves || slipway?.run === true };
    });
  }

  /** Says no to whatever waits; nothing waits afterwards. */
  rejectPending(reason: string): Promise<void> {
    return this.inTurn(async () => {
      const pending = pendingActions(this.log.events);
      if (pending.length > 0)
        await this.log.append([
          ...this.rejections(pending.map(({ id }) => ({ id, reason }))),
          statusUpdate(this.stamps, 'idle'),
        ]);
    });
  }

  private rejections(rejected: DividedAnswer['rejected']): ConversationEvent[] {
    const pending = pendingActions(this.log.events);
    return rejected.flatMap(({ id, reason }) => {
      const action = pending.find((one) => one.id === id);
      if (action === undefined) return [];
      return stamp(this.stamps, {
        kind: 'UserRejectObservation',
        source: 'environment',
        action_id: action.id,
        tool_name: action.tool_name,
        tool_call_id: action.tool_call_id,
        rejection_reason: reason,
        rejection_source: 'user',
        parent_id: action.id,
      });
    });
  }

  private change(changed: Partial<ConfirmationSettings>): Promise<void> {
    return this.inTurn(() => this.log.append([this.said({ ...this.settings, ...changed })]));
  }

  private said(settings: ConfirmationSettings): ConversationEvent {
    return stampUpdate(this.stamps, { key: 'confirmation_settings', value: settings }, 'user');
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.turn.then(work);
    this.turn = turn.catch(() => undefined);
    return turn;
  }
}

/** Is the answer about exactly what waits? One that names nothing is about all of it. */
function namesAll(pending: ReadonlyArray<{ readonly id: string }>, answer: Answer['slipway']): boolean {
  const named = new Set(namedActions({ action_ids: pending.map(({ id }) => id), ...answer }));
  return named.size === pending.length && pending.every(({ id }) => named.has(id));
}

function answererOf(slipway: Answer['slipway']): Pick<ConfirmationAnswer, 'by' | 'by_id' | 'by_kind' | 'receipt'> {
  const { by, by_id, by_kind, receipt } = slipway ?? {};
  const given = Object.entries({ by, by_id, by_kind, receipt }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

function isSame(a: Asking, b: Asking): boolean {
  return isDeepStrictEqual([a.policy, a.analyzer], [b.policy, b.analyzer]);
}

/** What a start asks for. */
function initialSettings(
  request: Pick<StartConversationRequest, 'confirmation_policy' | 'security_analyzer'>,
): ConfirmationSettings {
  return ConfirmationSettings.parse({
    ...(request.confirmation_policy == null ? {} : { policy: request.confirmation_policy }),
    ...(request.security_analyzer == null ? {} : { analyzer: request.security_analyzer }),
  });
}

import { randomUUID } from 'node:crypto';
import {
  type AgentLog,
  type AgentPorts,
  askAgent,
  condenseAsAsked,
  type EventStamp,
  pendingMessages,
  type RunControl,
  type RunSettings,
  runAgent,
  sessionEnd,
  stamp,
  statusUpdate,
} from '@slipway/agent';
import { type ConversationEvent, type StreamingDelta, stateValueOf } from '@slipway/contracts/events';
import { lastStatus } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { currentContext, currentTraceparent, runInContext } from '@slipway/telemetry';
import type { ConversationDeps } from '../conversations/conversation-deps.js';
import type { EventLog } from '../log/event-log.js';
import { Listeners } from '../log/listeners.js';
import { logOfRun } from '../log/run-log.js';
import { DeltaMask } from '../secrets/delta-mask.js';
import { ANSWERED_OTHERWISE, type Confirmation } from '../settings/confirmation.js';
import type { ConversationMeta } from '../settings/conversation-settings.js';
import { agentPorts } from './agent-ports.js';
import type { AgentSetup } from './agent-setup.js';
import { type ChargePass, portsBeside, summaryModels } from './charge-pass.js';
import { INTERRUPT_MS, interruptedAnswers, SESSION_END_MS, settledWithin } from './going-on.js';
import { runSettings, type Started } from './started.js';

/** What runs read of their conversation. */
export interface RunSubject {
  readonly id: string;
  readonly meta: ConversationMeta;
  readonly started: Started | undefined;
  readonly setup: AgentSetup;
  /** Another sandbox owns the conversation. */
  readonly fenced: boolean;
}

/** A run under way. `done` never rejects. */
interface ActiveRun {
  readonly control: AbortController;
  pause: boolean;
  done: Promise<void>;
}

/** The agent at work on a conversation: at most one run at a time, and the next for what came while one ended. */
export class Runs {
  private active: ActiveRun | undefined;
  /** A message that asked for a run arrived while one was ending. */
  private again = false;
  /** A notice that came while a run was under way, and that is worth another one. */
  private noticed: string | null = null;
  /** Of who asked last for a summary. */
  private summaryPass: ChargePass | null = null;
  private traceId = currentContext()?.traceId ?? randomUUID().replaceAll('-', '');
  /** Text that the model is writing. */
  readonly deltas = new Listeners<StreamingDelta>();
  /** Fires after a run's last event is in the log. */
  readonly rests = new Listeners<void>();

  constructor(
    /** As it is now: read again after each wait. */
    private readonly subject: () => RunSubject,
    private readonly log: EventLog,
    private readonly confirmation: Confirmation,
    private readonly deps: ConversationDeps,
    private readonly stamps: EventStamp,
  ) {}

  get isActive(): boolean {
    return this.active !== undefined;
  }

  get traceparent(): string {
    return currentTraceparent(this.traceId);
  }

  /** Runs belong to the trace of who asked last. */
  joinTrace(): void {
    this.traceId = currentContext()?.traceId ?? this.traceId;
  }

  /** @throws SlipwayError `conversation.not-running`. */
  start(): void {
    if (pendingMessages(this.log.events).length > 0) this.deps.actionServer.markTurn(this.subject().id);
    this.work(runAgent).then(
      (outcome) => this.deps.logger.info({ outcome, conversation_id: this.subject().id }, 'run ended'),
      (error: unknown) =>
        this.deps.logger.error(
          { err: error, conversation_id: this.subject().id },
          'failed to append the end of a run to its log',
        ),
    );
  }

  /** Starts a run now, or after the one under way. */
  startNext(): void {
    if (this.active !== undefined) this.again = true;
    else this.start();
  }

  /**
   * A run for a notice of the log, where the agent has come to its end and nothing waits; after the run under way,
   * unless that has read it.
   */
  startForNotice(id: string): void {
    if (this.active !== undefined) this.noticed = id;
    else if (this.mayStart && ['idle', 'finished'].includes(lastStatus(this.log.events))) this.start();
  }

  /** The run ends after its step. @returns false without one. */
  pause(): boolean {
    this.again = false;
    if (this.active === undefined) return false;
    this.active.pause = true;
    return true;
  }

  /** Cuts the run off from the log when it does not end in time. No-op without a run. */
  async interrupt(): Promise<void> {
    const { active } = this;
    this.again = false;
    if (active === undefined) return;
    active.control.abort(new Error('interrupted'));
    const [ended] = await Promise.all([
      settledWithin(active.done, INTERRUPT_MS),
      this.deps.actionServer.interruptTerminal(INTERRUPT_MS),
    ]);
    if (ended) return;
    this.active = undefined;
    this.deps.logger.error({ conversation_id: this.subject().id }, 'run did not stop in time, cut off');
    const errors = interruptedAnswers(this.stamps, this.log.events);
    await this.log.appendLast([
      ...errors,
      stamp(this.stamps, { kind: 'InterruptEvent', source: 'user' }),
      statusUpdate(this.stamps, 'paused'),
    ]);
    this.rests.tell();
  }

  /** Ends the run without an event in the log. */
  async halt(): Promise<void> {
    const { active } = this;
    this.again = false;
    this.active = undefined;
    active?.control.abort(new Error('the sandbox gives the conversation up'));
    if (active !== undefined) await settledWithin(active.done, INTERRUPT_MS);
  }

  abort(reason: Error): void {
    this.active?.control.abort(reason);
  }

  /** As `Conversation.condense`. @throws SlipwayError `conversation.not-running`, `budget.exhausted`. */
  async condense(pass: ChargePass | null): Promise<void> {
    this.summaryPass = this.active === undefined ? pass : (pass?.orTask() ?? null);
    await this.log.append([stamp(this.stamps, { kind: 'CondensationRequest', source: 'environment' })]);
    if (this.active !== undefined) return;
    await this.work((ports, settings, { signal }) => condenseAsAsked(ports, settings, signal));
  }

  /** As `Conversation.askAgent`, beside a run. @throws SlipwayError `budget.exhausted`, `model.*`. */
  askBeside(started: Started, question: string, pass: ChargePass | null, signal: AbortSignal): Promise<string> {
    const ports = portsBeside(this.portsBetweenRuns(started), pass);
    return askAgent(ports, this.settingsOf(started), question, signal);
  }

  /** What hooks want done at the end, for a few seconds at most; a failure keeps nothing from ending. */
  async endSession(): Promise<void> {
    const { started, setup, fenced } = this.subject();
    if (started === undefined || fenced || setup.hooks === null) return;
    await this.halt();
    const signal = AbortSignal.timeout(SESSION_END_MS);
    await sessionEnd(this.portsBetweenRuns(started), this.settingsOf(started), signal).catch(() => {});
  }

  /**
   * Something that works on the conversation alone, and is interrupted as a run is. @throws SlipwayError
   * `conversation.not-running`, and what `job` rejects with.
   */
  private work<T>(job: (ports: AgentPorts, settings: RunSettings, control: RunControl) => Promise<T>): Promise<T> {
    const { started } = this.subject();
    if (started === undefined) throw notStarted();
    const active: ActiveRun = { control: new AbortController(), pause: false, done: Promise.resolve() };
    this.active = active;
    this.again = false;
    const ports = this.portsOf(
      started,
      this.logOf(started, () => this.active === active),
    );
    const control = { signal: active.control.signal, pauseRequested: () => active.pause };
    const result = runInContext({ traceId: this.traceId, conversationId: this.subject().id }, () =>
      job(ports, this.settingsOf(started), control),
    );
    active.done = result.then(
      () => this.ended(active),
      () => this.ended(active),
    );
    return result;
  }

  private ended(active: ActiveRun): void {
    if (this.active !== active) return;
    this.active = undefined;
    this.rests.tell();
    // Accepted between the run's last event and its end.
    if (!this.again && this.mayStart && this.confirmation.accepted) this.start();
    const { noticed } = this;
    this.noticed = null;
    if (!this.again && !this.isActive && noticed !== null && !wasRead(this.log.events, noticed))
      this.startForNotice(noticed);
    if (!this.again || this.subject().fenced || pendingMessages(this.log.events).length === 0) return;
    this.confirmation.rejectPending(ANSWERED_OTHERWISE).then(
      () => this.active === undefined && this.mayStart && this.start(),
      (error: unknown) =>
        this.deps.logger.error(
          { err: error, conversation_id: this.subject().id },
          'failed to start a run for a pending message',
        ),
    );
  }

  private get mayStart(): boolean {
    const { started, fenced } = this.subject();
    return started !== undefined && !fenced;
  }

  private settingsOf(started: Started): RunSettings {
    return runSettings(
      started,
      () => this.subject().meta,
      () => (this.deps.fourEyes() ? { ...this.confirmation.settings, rules: [] } : this.confirmation.settings),
      (actionIds) => this.confirmation.mayCarryOut(actionIds),
    );
  }

  private portsBetweenRuns(started: Started): AgentPorts {
    return this.portsOf(
      started,
      this.logOf(started, () => this.subject().started === started),
    );
  }

  private portsOf(started: Started, log: AgentLog): AgentPorts {
    const deltas = new DeltaMask(this.deps.mask);
    const { setup } = this.subject();
    return agentPorts({
      log,
      models: summaryModels(started.llms, log, () => this.summaryPass),
      stats: started.stats,
      tools: this.deps.actionServer,
      readPicture: this.deps.pictures.read,
      holdsSecret: (text) => this.deps.mask.text(text) !== text,
      toolbox: setup.toolbox,
      hooks: setup.hooks,
      skillsOf: setup.skillsOf,
      onDelta: (delta) => this.passOn(deltas.next(delta), started),
      traceparent: () => this.traceparent,
      logger: this.deps.logger,
    });
  }

  private logOf(started: Started, isCurrent: () => boolean): AgentLog {
    return logOfRun(this.log, this.deps.mask, started.link, () => isCurrent() && !this.subject().fenced);
  }

  private passOn(delta: StreamingDelta | null, started: Started): void {
    if (delta === null) return;
    started.link?.sendDelta(delta);
    if (started.streaming) this.deltas.tell(delta);
  }
}

export function notStarted(): SlipwayError {
  return new SlipwayError(
    'conversation.not-running',
    'This sandbox was restarted: start the conversation again with POST /api/conversations.',
  );
}

/**
 * Whether a call of the agent's model began after the event: the second answer behind it did for certain.
 */
function wasRead(events: readonly ConversationEvent[], id: string): boolean {
  const at = events.findLastIndex((event) => event.id === id);
  const answers = events.slice(at + 1).filter((event) => {
    const stats = stateValueOf(event, 'stats');
    return stats !== undefined && (stats.latest?.usage_id ?? 'agent') === 'agent';
  });
  return answers.length > 1;
}

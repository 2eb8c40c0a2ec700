import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import {
  type AgentLog,
  type AgentPorts,
  askAgent,
  condenseAsAsked,
  pendingMessages,
  type RunControl,
  type RunSettings,
  runAgent,
  sessionEnd,
  stamp,
  stampUpdate,
  statusUpdate,
} from '@slipway/agent';
import type {
  AgentType,
  ConversationInfo,
  ForkConversationRequest,
  LlmSettings,
  RunLimits,
  SendEventRequest,
  StartConversationRequest,
} from '@slipway/contracts/agent';
import type { StreamingDelta } from '@slipway/contracts/events';
import { lastStatus } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { currentContext, currentTraceparent, runInContext } from '@slipway/telemetry';
import type { Answer, Author } from '../log/authors.js';
import { boundEvent } from '../log/event-bounds.js';
import { EventLog } from '../log/event-log.js';
import { Listeners } from '../log/listeners.js';
import { MetaFile } from '../log/meta-file.js';
import { logOfRun } from '../log/run-log.js';
import { agentPorts, llmConfigOf } from '../run/agent-ports.js';
import { AgentSetup } from '../run/agent-setup.js';
import { type ChargePass, portsBeside, summaryModels } from '../run/charge-pass.js';
import {
  eventsToGoOn,
  hasWork,
  INTERRUPT_MS,
  interruptedAnswers,
  restsOnPause,
  SESSION_END_MS,
  settledWithin,
} from '../run/going-on.js';
import { modelRetriesOf, runSettings, type Started, startedOf } from '../run/started.js';
import { userMessage } from '../run/user-message.js';
import { McpServers } from '../sandbox/mcp-servers.js';
import { DeltaMask } from '../secrets/delta-mask.js';
import { ANSWERED_OTHERWISE, Confirmation, STOPPED } from '../settings/confirmation.js';
import { type ConversationMeta, metaOf, readMeta, stepsOf } from '../settings/conversation-settings.js';
import { AppLink } from './app-link.js';
import type { ActiveRun, ConversationDeps, ConversationStart } from './conversation-deps.js';
import { conversationInfo } from './conversation-info.js';
import { type Fork, forkOf, withModel } from './fork.js';

/** One conversation in this sandbox: its log, and at most one run of the agent on it. */
export class Conversation {
  private started: Started | undefined;
  private active: ActiveRun | undefined;
  /** A message that asked for a run arrived while one was ending. */
  private runAgain = false;
  /** Of who asked last for a summary. */
  private summaryPass: ChargePass | null = null;
  private fenced = false;
  private traceId = currentContext()?.traceId ?? randomUUID().replaceAll('-', '');
  /** Text that the model is writing. */
  readonly deltas = new Listeners<StreamingDelta>();
  /** Fires when the conversation goes away or its log is rebuilt: positions in it are invalid then. */
  readonly closes = new Listeners<'gone' | 'restarted'>();
  /** Fires after a run's last event is in the log. */
  readonly rests = new Listeners<void>();
  private setup = AgentSetup.blank();
  private readonly stamps = { clock: { now: () => new Date() }, ids: { uuid: () => randomUUID() as string } };
  private readonly file: MetaFile;
  readonly confirmation: Confirmation;
  private readonly mcp: McpServers;

  private constructor(
    private readonly directory: string,
    meta: ConversationMeta,
    readonly log: EventLog,
    private readonly deps: ConversationDeps,
  ) {
    this.file = new MetaFile(directory, meta, deps.logger);
    this.confirmation = new Confirmation(log, this.stamps, deps.fourEyes);
    this.mcp = new McpServers(meta.id, deps, (value) =>
      this.log.append([deps.mask.event(stampUpdate(this.stamps, { key: 'mcp_servers', value }))]),
    );
  }

  get id(): string {
    return this.meta.id;
  }

  private get meta(): ConversationMeta {
    return this.file.meta;
  }

  /** Left by a previous process, without tokens: answered as missing, so that the caller starts it again. */
  get awaitsApp(): boolean {
    return this.started === undefined && this.meta.epoch !== null;
  }

  /** A conversation that a previous process left in `directory`; `null` when there is none. */
  static async restore(directory: string, deps: ConversationDeps): Promise<Conversation | null> {
    const meta = await readMeta(directory);
    return meta === null ? null : new Conversation(directory, meta, await EventLog.open(directory), deps);
  }

  static async create(id: string, { directory, request, deps, events = [] }: ConversationStart): Promise<Conversation> {
    const log = await EventLog.open(directory);
    if (events.length > 0) await log.append(events);
    return new Conversation(directory, metaOf(id, request, new Date().toISOString()), log, deps);
  }

  info(): ConversationInfo {
    return conversationInfo(this.meta, this.log.events, {
      confirmation: this.confirmation.settings,
      directory: this.directory,
      outbox: this.started?.link?.outbox.state ?? null,
    });
  }

  /**
   * Gives the conversation its model and its way to the app, and goes on from where its log ends. The same epoch again
   * only brings new keys, and when to ask.
   * @throws SlipwayError `ingest.stale-epoch` for an older epoch than the one that runs here, `service.unavailable`
   * when the log cannot be read back.
   */
  async start(request: StartConversationRequest, author: Author = {}): Promise<void> {
    const { slipway } = request;
    const epoch = slipway?.epoch ?? null;
    if (this.started !== undefined && (this.meta.epoch === epoch || slipway === undefined))
      return this.renew(this.started, request);
    if (epoch !== null && this.meta.epoch !== null && epoch < this.meta.epoch)
      throw new SlipwayError('ingest.stale-epoch', 'A newer start of this conversation was here before.');
    await this.quiesce();
    this.deps.mask.add([slipway?.ingestToken ?? '', request.agent.llm.api_key ?? '']);
    this.closes.tell('restarted');
    const link = slipway === undefined ? null : await this.linkTo(slipway);
    const meta = metaOf(this.id, request, this.meta.created_at, this.meta.title);
    this.setup = await AgentSetup.of(this.id, request, this.deps.actionServer, this.mcp);
    this.fenced = false;
    this.file.change(meta);
    this.deps.actionServer.workIn(this.meta.working_dir);
    this.confirmation.begin(request);
    this.confirmation.vouch(link?.approved ?? []);
    this.started = startedOf(request, this.log.events, link);
    const { waits } = this.confirmation;
    const missing = eventsToGoOn(this.stamps, { id: this.id, events: this.log.events, waits }, this.setup, slipway);
    if (missing.length > 0) await this.log.append(missing.map((event) => this.deps.mask.event(event)));
    this.mcp.begin(request);
    await this.confirmation.adopt(request);
    if (
      this.confirmation.accepted ||
      (slipway?.resumeRun === true && !this.confirmation.waits && hasWork(this.log.events))
    )
      this.startRun();
    else if (lastStatus(this.log.events) === 'running') await this.log.append([statusUpdate(this.stamps, 'idle')]);
    if (request.initial_message !== null && request.initial_message !== undefined) {
      await this.send({
        role: 'user',
        content: request.initial_message.content,
        run: request.initial_message.run ?? true,
        ...author,
      });
    }
  }

  /** @throws SlipwayError `sandbox.disk-full`, `ingest.stale-epoch`. The same `event_id` again is the same message. */
  async send(message: SendEventRequest): Promise<void> {
    this.assertOwned();
    this.traceId = currentContext()?.traceId ?? this.traceId;
    if (message.run) await this.confirmation.rejectPending(ANSWERED_OTHERWISE);
    const id = message.event_id ?? randomUUID();
    const isNew = !this.log.has(id);
    const event = userMessage(id, message, (text) => this.setup.broughtBy(text, this.log.events));
    await this.log.append([boundEvent(this.deps.mask.event(event))]);
    if (isNew && this.active !== undefined) this.deps.actionServer.markTurn(this.id);
    if (!message.run || !pendingMessages(this.log.events).some((waiting) => waiting.id === id)) return;
    if (this.active !== undefined) this.runAgain = true;
    else this.startRun();
  }

  /** True where the app owns the log. */
  get isOfTheApp(): boolean {
    return this.meta.epoch !== null;
  }

  /**
   * The one way to accept what waits; the agent goes on if the answer says so. @returns the id of the answer's event.
   * @throws SlipwayError `conversation.nothing-to-confirm`, `conversation.not-running`, `ingest.stale-epoch`.
   */
  async respond(answer: Answer): Promise<string> {
    this.assertOwned();
    if (this.started === undefined) throw notStarted();
    this.traceId = currentContext()?.traceId ?? this.traceId;
    const { id, goesOn } = await this.confirmation.respond(answer);
    if (goesOn && this.active === undefined) this.startRun();
    return id;
  }

  /**
   * Accepts nothing of what waits. @throws SlipwayError `conversation.awaits-confirmation`, `conversation.busy`,
   * `conversation.not-running`, `ingest.stale-epoch`.
   */
  run(): void {
    this.assertOwned();
    if (this.confirmation.waits && !this.confirmation.accepted)
      throw new SlipwayError(
        'conversation.awaits-confirmation',
        'The agent waits for a yes or a no: answer it with respond_to_confirmation.',
      );
    if (this.active !== undefined) throw new SlipwayError('conversation.busy', 'The agent is at work already.');
    this.startRun();
  }

  /** The run ends after its step; without a run the conversation is paused at once. */
  async pause(): Promise<void> {
    this.assertOwned();
    this.runAgain = false;
    if (this.active !== undefined) this.active.pause = true;
    else if (lastStatus(this.log.events) === 'idle')
      await this.log.append([
        stamp(this.stamps, { kind: 'PauseEvent', source: 'user' }),
        statusUpdate(this.stamps, 'paused'),
      ]);
  }

  /**
   * Stops the run now: the model call is aborted and the command killed, also one that an earlier step left running.
   * Answers within a second; a run that does not end by then is cut off from the log.
   */
  async interrupt(): Promise<void> {
    this.assertOwned();
    const { active } = this;
    this.runAgain = false;
    if (active === undefined) {
      if (!this.confirmation.waits && !restsOnPause(this.log.events)) return;
      await this.confirmation.rejectPending(STOPPED);
      return this.log.append([
        stamp(this.stamps, { kind: 'InterruptEvent', source: 'user' }),
        statusUpdate(this.stamps, 'paused'),
      ]);
    }
    active.control.abort(new Error('interrupted'));
    const [ended] = await Promise.all([
      settledWithin(active.done, INTERRUPT_MS),
      this.deps.actionServer.interruptTerminal(INTERRUPT_MS),
    ]);
    if (ended) return;
    this.active = undefined;
    this.deps.logger.error({ conversation_id: this.id }, 'run did not stop in time, cut off');
    const errors = interruptedAnswers(this.stamps, this.log.events);
    await this.log.appendLast([
      ...errors,
      stamp(this.stamps, { kind: 'InterruptEvent', source: 'user' }),
      statusUpdate(this.stamps, 'paused'),
    ]);
    this.rests.tell();
  }

  /**
   * Condenses the model's view: a run does it before its next step; when idle it is done when this resolves.
   * @throws SlipwayError `conversation.not-running`, `ingest.stale-epoch`, `budget.exhausted`.
   */
  async condense(pass: ChargePass | null): Promise<void> {
    this.assertOwned();
    if (this.started === undefined) throw notStarted();
    this.summaryPass = this.active === undefined ? pass : (pass?.orTask() ?? null);
    await this.log.append([stamp(this.stamps, { kind: 'CondensationRequest', source: 'environment' })]);
    if (this.active !== undefined) return;
    await this.work((ports, settings, { signal }) => condenseAsAsked(ports, settings, signal));
  }

  /**
   * An answer from what the agent knows; the log gets nothing of it but its cost. @throws SlipwayError as `condense`,
   * `model.*`.
   */
  async askAgent(question: string, pass: ChargePass | null, signal: AbortSignal): Promise<string> {
    this.assertOwned();
    const { started } = this;
    if (started === undefined) throw notStarted();
    const log = this.logOf(started, () => this.started === started);
    return askAgent(portsBeside(this.portsOf(started, log), pass), this.settingsOf(started), question, signal);
  }

  /**
   * From the next step on; a run that paused at a limit goes on with `run`. `check` changes nothing. @throws
   * SlipwayError `request.invalid` beyond the ceiling.
   */
  setLimits({ maxIterations, maxBudgetUsd }: Partial<RunLimits>, mode: 'apply' | 'check'): void {
    this.assertOwned();
    const change = {
      ...stepsOf(maxIterations, this.meta.iteration_ceiling),
      ...(maxBudgetUsd === undefined ? {} : { max_budget: maxBudgetUsd }),
    };
    if (mode === 'apply') this.file.change(change);
  }

  /**
   * `check` changes nothing. @throws SlipwayError `conversation.busy` while the agent works,
   * `conversation.not-running`, `ingest.stale-epoch`.
   */
  async setAgentType(agent_type: AgentType, mode: 'apply' | 'check'): Promise<void> {
    this.assertOwned();
    const { started } = this;
    if (started === undefined) throw notStarted();
    if ((started.request.agent_type ?? 'default') === agent_type) return;
    const request = { ...started.request, agent_type };
    const setup = await AgentSetup.of(this.id, request, this.deps.actionServer, this.mcp);
    if (this.started !== started || this.active !== undefined)
      throw new SlipwayError('conversation.busy', 'The agent is at work; its type can change when it is idle.');
    if (mode === 'check') return;
    started.request = request;
    this.setup = setup;
    await this.log.append([this.deps.mask.event(setup.systemPrompt(this.stamps))]);
  }

  /**
   * Another model from the next step of the agent on. @throws SlipwayError `conversation.not-running`,
   * `ingest.stale-epoch`.
   */
  switchLlm(llm: LlmSettings): void {
    this.assertOwned();
    const { started } = this;
    if (started === undefined) throw notStarted();
    this.deps.mask.add([llm.api_key ?? '']);
    const { baseUrl, apiKey } = started.llms.get('agent').config;
    const next = llmConfigOf(llm);
    // The key stays where it was good: at no other address.
    started.llms.switch('agent', next.apiKey === null && next.baseUrl === baseUrl ? { ...next, apiKey } : next);
    started.modelRetries = modelRetriesOf(llm);
    started.request = withModel(started.request, llm);
    this.file.change({ model: llm.model, base_url: llm.base_url ?? null });
  }

  /**
   * What another conversation needs to go on by itself from what this one knows. @throws SlipwayError
   * `conversation.not-running`, `resource.not-found`.
   */
  fork(wanted: ForkConversationRequest): Fork {
    if (this.started === undefined) throw notStarted();
    return forkOf(this.id, this.started.request, this.log.events, wanted);
  }

  /** What people call it and how they sort it; nothing of the agent's. */
  describe({
    title,
    tags,
  }: {
    readonly title?: string | null | undefined;
    readonly tags?: Record<string, string> | null | undefined;
  }): void {
    this.file.change({ ...(title == null ? {} : { title }), ...(tags == null ? {} : { tags }) });
  }

  /**
   * Ends the run without an event in the log (the next process continues it) and sends what is left to the app, until
   * `signal` at most.
   */
  async flush(signal: AbortSignal): Promise<void> {
    await this.halt();
    await this.started?.link?.outbox.flushed(signal);
  }

  /** Ends the run and the connection to the app. The log stays on disk. */
  async close(): Promise<void> {
    await this.quiesce();
    this.file.close();
    this.closes.tell('gone');
    this.log.close(new SlipwayError('resource.not-found', 'The conversation was closed.'));
    await this.log.dispose();
  }

  async delete(): Promise<void> {
    await this.endSession();
    await this.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** What hooks want done at the end, for a few seconds at most; a failure keeps nothing from ending. */
  private async endSession(): Promise<void> {
    const { started } = this;
    if (started === undefined || this.fenced || this.setup.hooks === null) return;
    await this.halt();
    const log = this.logOf(started, () => this.started === started);
    await sessionEnd(this.portsOf(started, log), this.settingsOf(started), AbortSignal.timeout(SESSION_END_MS)).catch(
      () => {},
    );
  }

  private async renew(started: Started, request: StartConversationRequest): Promise<void> {
    this.deps.mask.add([request.slipway?.ingestToken ?? '', request.agent.llm.api_key ?? '']);
    started.llms.switch('agent', llmConfigOf(request.agent.llm));
    if (request.slipway !== undefined) started.link?.renew(request.slipway.ingestToken);
    await this.confirmation.adopt(request);
  }

  private async linkTo(slipway: NonNullable<StartConversationRequest['slipway']>): Promise<AppLink> {
    return AppLink.open(slipway, this.log, {
      traceparent: () => currentTraceparent(this.traceId),
      logger: this.deps.logger.child({ conversation_id: this.id }),
      onFenced: () => this.fence(),
      onAcked: (acked) => this.file.changeSoon({ acked }),
      signal: AbortSignal.timeout(60_000),
    });
  }

  private startRun(): void {
    if (pendingMessages(this.log.events).length > 0) this.deps.actionServer.markTurn(this.id);
    this.work(runAgent).then(
      (outcome) => this.deps.logger.info({ outcome, conversation_id: this.id }, 'run ended'),
      (error: unknown) =>
        this.deps.logger.error(
          { err: error, conversation_id: this.id },
          'failed to append the end of a run to its log',
        ),
    );
  }

  /**
   * Something that works on the conversation alone, and is interrupted as a run is. @throws SlipwayError
   * `conversation.not-running`, and what `job` rejects with.
   */
  private work<T>(job: (ports: AgentPorts, settings: RunSettings, control: RunControl) => Promise<T>): Promise<T> {
    const { started } = this;
    if (started === undefined) throw notStarted();
    const active: ActiveRun = { control: new AbortController(), pause: false, done: Promise.resolve() };
    this.active = active;
    this.runAgain = false;
    const ports = this.portsOf(
      started,
      this.logOf(started, () => this.active === active),
    );
    const control = { signal: active.control.signal, pauseRequested: () => active.pause };
    const result = runInContext({ traceId: this.traceId, conversationId: this.id }, () =>
      job(ports, this.settingsOf(started), control),
    );
    active.done = result.then(
      () => this.ended(active),
      () => this.ended(active),
    );
    return result;
  }

  private settingsOf(started: Started): RunSettings {
    return runSettings(
      started,
      () => this.meta,
      () => (this.deps.fourEyes() ? { ...this.confirmation.settings, rules: [] } : this.confirmation.settings),
      (actionIds) => this.confirmation.mayCarryOut(actionIds),
    );
  }

  private portsOf(started: Started, log: AgentLog): AgentPorts {
    const deltas = new DeltaMask(this.deps.mask);
    return agentPorts({
      log,
      models: summaryModels(started.llms, log, () => this.summaryPass),
      stats: started.stats,
      tools: this.deps.actionServer,
      holdsSecret: (text) => this.deps.mask.text(text) !== text,
      toolbox: this.setup.toolbox,
      hooks: this.setup.hooks,
      skillsOf: this.setup.skillsOf,
      onDelta: (delta) => this.passOn(deltas.next(delta), started),
      traceparent: () => currentTraceparent(this.traceId),
      logger: this.deps.logger,
    });
  }

  private ended(active: ActiveRun): void {
    if (this.active !== active) return;
    this.active = undefined;
    this.rests.tell();
    // Accepted between the run's last event and its end.
    if (!this.runAgain && !this.fenced && this.started !== undefined && this.confirmation.accepted) this.startRun();
    if (!this.runAgain || this.fenced || pendingMessages(this.log.events).length === 0) return;
    this.confirmation.rejectPending(ANSWERED_OTHERWISE).then(
      () => this.active === undefined && this.started !== undefined && !this.fenced && this.startRun(),
      (error: unknown) =>
        this.deps.logger.error({ err: error, conversation_id: this.id }, 'failed to start a run for a pending message'),
    );
  }

  private logOf(started: Started, isCurrent: () => boolean): AgentLog {
    return logOfRun(this.log, this.deps.mask, started.link, () => isCurrent() && !this.fenced);
  }

  private passOn(delta: StreamingDelta | null, started: Started): void {
    if (delta === null) return;
    started.link?.sendDelta(delta);
    if (started.streaming) this.deltas.tell(delta);
  }

  /** No run and no connection to the app afterwards; what was written stays. */
  private async quiesce(): Promise<void> {
    const { started } = this;
    this.started = undefined;
    this.mcp.end();
    await this.halt();
    await started?.link?.close();
  }

  private async halt(): Promise<void> {
    const { active } = this;
    this.runAgain = false;
    this.active = undefined;
    active?.control.abort(new Error('the sandbox gives the conversation up'));
    if (active !== undefined) await settledWithin(active.done, INTERRUPT_MS);
  }

  private fence(): void {
    this.fenced = true;
    this.active?.control.abort(new Error('another sandbox owns the conversation'));
  }

  /**
   * @throws SlipwayError `ingest.stale-epoch` when another sandbox has the conversation, or what is asked is meant for
   * another start.
   */
  assertOwned(epoch?: number): void {
    if (this.fenced || (epoch ?? this.meta.epoch) !== this.meta.epoch)
      throw new SlipwayError('ingest.stale-epoch', 'Another sandbox owns it now.');
  }
}

function notStarted(): SlipwayError {
  return new SlipwayError(
    'conversation.not-running',
    'This sandbox was restarted: start the conversation again with POST /api/conversations.',
  );
}

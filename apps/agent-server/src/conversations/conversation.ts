import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { pendingMessages, stamp, stampUpdate, statusUpdate } from '@slipway/agent';
import type {
  AgentType,
  ConversationInfo,
  ForkConversationRequest,
  LlmSettings,
  RunLimits,
  SendEventRequest,
  StartConversationRequest,
} from '@slipway/contracts/agent';
import { type ConversationEvent, type StreamingDelta, stateValueOf } from '@slipway/contracts/events';
import { lastStatus } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { CheckpointSubject } from '../checkpoints/conversation-checkpoints.js';
import type { Answer, Author } from '../log/authors.js';
import { boundEvent } from '../log/event-bounds.js';
import { EventLog } from '../log/event-log.js';
import { Listeners } from '../log/listeners.js';
import { MetaFile } from '../log/meta-file.js';
import { llmConfigOf } from '../run/agent-ports.js';
import { AgentSetup } from '../run/agent-setup.js';
import { type ChargePass } from '../run/charge-pass.js';
import { eventsToGoOn, hasWork, restsOnPause } from '../run/going-on.js';
import { notStarted, type RunSubject, Runs } from '../run/runs.js';
import { modelRetriesOf, type Started, startedOf } from '../run/started.js';
import { noticeTo, userMessage } from '../run/user-message.js';
import { McpServers } from '../sandbox/mcp-servers.js';
import { ANSWERED_OTHERWISE, Confirmation, STOPPED } from '../settings/confirmation.js';
import { type ConversationMeta, metaOf, readMeta, stepsOf } from '../settings/conversation-settings.js';
import { AppLink } from './app-link.js';
import type { ConversationDeps, ConversationStart } from './conversation-deps.js';
import { conversationInfo } from './conversation-info.js';
import { type Fork, forkOf, withModel } from './fork.js';

/** One conversation in this sandbox: its log, and at most one run of the agent on it. */
export class Conversation {
  private started: Started | undefined;
  private fenced = false;
  /** Fires when the conversation goes away or its log is rebuilt: positions in it are invalid then. */
  readonly closes = new Listeners<'gone' | 'restarted'>();
  private setup = AgentSetup.blank();
  private readonly stamps = { clock: { now: () => new Date() }, ids: { uuid: () => randomUUID() as string } };
  private readonly file: MetaFile;
  readonly confirmation: Confirmation;
  private readonly runs: Runs;
  private readonly mcp: McpServers;

  private constructor(
    private readonly directory: string,
    meta: ConversationMeta,
    readonly log: EventLog,
    private readonly deps: ConversationDeps,
  ) {
    this.file = new MetaFile(directory, meta, deps.logger);
    this.confirmation = new Confirmation(log, this.stamps, deps.fourEyes);
    this.runs = new Runs(() => this.runSubject(), log, this.confirmation, deps, this.stamps);
    this.mcp = new McpServers(meta.id, deps, (value) =>
      this.log.append([deps.mask.event(stampUpdate(this.stamps, { key: 'mcp_servers', value }))]),
    );
    this.runs.rests.listen(() => deps.checkpoints.of(this.id).capture('rest'));
    log.subscribe((from) => {
      if (log.events.slice(from).some(isAnswerOfModel)) deps.checkpoints.of(this.id).stepEnded();
    });
  }

  get id(): string {
    return this.meta.id;
  }

  private get meta(): ConversationMeta {
    return this.file.meta;
  }

  /** Text that the model is writing. */
  get deltas(): Listeners<StreamingDelta> {
    return this.runs.deltas;
  }

  /** Fires after a run's last event is in the log. */
  get rests(): Listeners<void> {
    return this.runs.rests;
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
    this.deps.checkpoints.of(this.id).follow(slipway?.checkpoints === true ? this.checkpointSubject() : null);
    const { waits } = this.confirmation;
    const missing = eventsToGoOn(this.stamps, { id: this.id, events: this.log.events, waits }, this.setup, slipway);
    if (missing.length > 0) await this.log.append(missing.map((event) => this.deps.mask.event(event)));
    this.mcp.begin(request);
    await this.confirmation.adopt(request);
    if (
      this.confirmation.accepted ||
      (slipway?.resumeRun === true && !this.confirmation.waits && hasWork(this.log.events))
    )
      this.runs.start();
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
    this.runs.joinTrace();
    if (message.notice === true) return this.notify(message);
    if (message.run) await this.confirmation.rejectPending(ANSWERED_OTHERWISE);
    const id = message.event_id ?? randomUUID();
    const isNew = !this.log.has(id);
    const event = userMessage(id, message, (text) => this.setup.broughtBy(text, this.log.events));
    await this.log.append([boundEvent(this.deps.mask.event(event))]);
    if (isNew && this.runs.isActive) this.deps.actionServer.markTurn(this.id);
    if (!message.run || !pendingMessages(this.log.events).some((waiting) => waiting.id === id)) return;
    this.runs.startNext();
  }

  /** A notice of the platform. An agent that waits for an answer, was halted or has nothing to go on with stays so. */
  private async notify({ event_id: id = randomUUID(), content, run }: SendEventRequest): Promise<void> {
    if (this.log.has(id)) return;
    const text = content.map((part) => part.text).join('\n');
    await this.log.append([boundEvent(this.deps.mask.event(noticeTo(id, text)))]);
    if (run) this.runs.startForNotice(id);
  }

  /**
   * Has `work` change files for a user, and tells the agent in a line of the log; the same `id` again does nothing.
   * @throws SlipwayError `conversation.busy` while the agent works, `ingest.stale-epoch`, and those of `work`.
   */
  async changedFor({ id, notice }: { id: string; notice: string }, work: () => Promise<void>): Promise<void> {
    this.assertOwned();
    if (this.log.has(id)) return;
    if (this.runs.isActive)
      throw new SlipwayError(
        'conversation.busy',
        'The agent is at work, and may be changing these files. Stop it, or wait until it is done.',
      );
    await work();
    await this.log.append([boundEvent(this.deps.mask.event(noticeTo(id, notice)))]);
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
    this.runs.joinTrace();
    const { id, goesOn } = await this.confirmation.respond(answer);
    if (goesOn && !this.runs.isActive) this.runs.start();
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
    if (this.runs.isActive) throw new SlipwayError('conversation.busy', 'The agent is at work already.');
    this.runs.start();
  }

  /** The run ends after its step; without a run the conversation is paused at once. */
  async pause(): Promise<void> {
    this.assertOwned();
    if (this.runs.pause()) return;
    if (lastStatus(this.log.events) === 'idle')
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
    if (this.runs.isActive) return this.runs.interrupt();
    if (!this.confirmation.waits && !restsOnPause(this.log.events)) return;
    await this.confirmation.rejectPending(STOPPED);
    await this.log.append([
      stamp(this.stamps, { kind: 'InterruptEvent', source: 'user' }),
      statusUpdate(this.stamps, 'paused'),
    ]);
  }

  /**
   * Condenses the model's view: a run does it before its next step; when idle it is done when this resolves.
   * @throws SlipwayError `conversation.not-running`, `ingest.stale-epoch`, `budget.exhausted`.
   */
  async condense(pass: ChargePass | null): Promise<void> {
    this.assertOwned();
    if (this.started === undefined) throw notStarted();
    return this.runs.condense(pass);
  }

  /**
   * An answer from what the agent knows; the log gets nothing of it but its cost. @throws SlipwayError as `condense`,
   * `model.*`.
   */
  async askAgent(question: string, pass: ChargePass | null, signal: AbortSignal): Promise<string> {
    this.assertOwned();
    const { started } = this;
    if (started === undefined) throw notStarted();
    return this.runs.askBeside(started, question, pass, signal);
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
    if (this.started !== started || this.runs.isActive)
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
    await this.runs.halt();
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
    await this.runs.endSession();
    await this.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  private async renew(started: Started, request: StartConversationRequest): Promise<void> {
    this.deps.mask.add([request.slipway?.ingestToken ?? '', request.agent.llm.api_key ?? '']);
    started.llms.switch('agent', llmConfigOf(request.agent.llm));
    if (request.slipway !== undefined) started.link?.renew(request.slipway.ingestToken);
    await this.confirmation.adopt(request);
  }

  private async linkTo(slipway: NonNullable<StartConversationRequest['slipway']>): Promise<AppLink> {
    return AppLink.open(slipway, this.log, {
      traceparent: () => this.runs.traceparent,
      logger: this.deps.logger.child({ conversation_id: this.id }),
      onFenced: () => this.fence(),
      onAcked: (acked) => this.file.changeSoon({ acked }),
      signal: AbortSignal.timeout(60_000),
    });
  }

  /** No run and no connection to the app afterwards; what was written stays. */
  private async quiesce(): Promise<void> {
    const { started } = this;
    this.started = undefined;
    this.deps.checkpoints.of(this.id).follow(null);
    this.mcp.end();
    await this.runs.halt();
    await started?.link?.close();
  }

  private checkpointSubject(): CheckpointSubject {
    return {
      lastEvent: () => this.log.events.at(-1)?.id ?? null,
      captured: async (value) => {
        if (this.started === undefined || this.fenced) return;
        await this.log.append([this.deps.mask.event(stampUpdate(this.stamps, { key: 'checkpoint', value }))]);
      },
    };
  }

  private runSubject(): RunSubject {
    const { id, meta, started, setup, fenced } = this;
    return { id, meta, started, setup, fenced };
  }

  private fence(): void {
    this.fenced = true;
    this.runs.abort(new Error('another sandbox owns the conversation'));
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

/** The agent's model has answered: what it asked for before is done, and what it asks for now has not begun. */
function isAnswerOfModel(event: ConversationEvent): boolean {
  return stateValueOf(event, 'stats')?.latest?.usage_id === 'agent';
}

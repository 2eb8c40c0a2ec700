import type { TraceSpanKind } from '@slipway/contracts/conversations';
import { type Draft, endDraft, spanName, type TurnDraft } from './draft.js';
import { spanId } from './span-ids.js';
import { type OpenDraft, type OpenedSpan, StartDrafts } from './start-drafts.js';
import { SubAgentDrafts } from './sub-agent-drafts.js';
import type { TraceEvent, TraceUpdate } from './trace-event.js';

/** A call of a tool that has no answer yet. */
interface OpenTool {
  readonly actionId: string;
  readonly toolCallId: string;
  readonly draft: Draft;
}

/** What an answer brings to a log that it did not begin in. */
export const LOST = 'sandbox.lost';
export const STOPPED = 'run.stopped';

/**
 * Takes the events of a log in order and keeps what spans need of them. Holds at most `limit` spans, model calls
 * counted in; then it only ends what it has, and `cut` says where the next part begins.
 */
export class TraceCollector {
  readonly turns: TurnDraft[] = [];
  readonly starts: StartDrafts;
  private readonly subAgents: SubAgentDrafts;
  private tools: OpenTool[] = [];
  private agent: Draft | null = null;
  private approval: Draft | null = null;
  private condense: Draft | null = null;
  private failure: string | null = null;
  private count = 0;
  /** Position and time of the first event that had no room; `null` while there is room. */
  cut: { readonly seq: number; readonly at: number } | null = null;
  lastSeq = 0;
  lastAt = 0;
  epoch = 0;

  constructor(
    readonly conversationId: string,
    private readonly limit: number,
  ) {
    const open: OpenDraft = (kind, event, opened) => this.open(kind, event, opened);
    this.starts = new StartDrafts(open);
    this.subAgents = new SubAgentDrafts(open);
  }

  /** Spans so far, without model calls. */
  get spans(): number {
    return this.count - this.turns.reduce((sum, { logged }) => sum + logged.length, 0);
  }

  /** Does the agent work, or wait for an answer, at the end of what was taken? */
  get isRunning(): boolean {
    return this.agent !== null;
  }

  /** Is anything open that an event after the cut may still end? */
  get hasOpen(): boolean {
    return this.agent !== null || this.tools.length > 0;
  }

  add(event: TraceEvent): void {
    if (event.seq <= this.lastSeq) return;
    this.lastSeq = event.seq;
    this.lastAt = Math.max(this.lastAt, event.at);
    this.epoch = Math.max(this.epoch, event.epoch);
    switch (event.kind) {
      case 'MessageEvent':
        if (event.message !== undefined) this.message(event);
        break;
      case 'ActionEvent':
        this.action(event);
        break;
      case 'ObservationEvent':
        this.answer((tool) => tool.actionId === event.actionId, event, event.failed === true ? 'tool.failed' : null);
        break;
      case 'UserRejectObservation':
        this.endApproval(event.at);
        this.answer((tool) => tool.actionId === event.actionId, event, 'tool.rejected');
        break;
      case 'AgentErrorEvent':
        this.answer((tool) => tool.toolCallId === event.toolCallId, event, 'tool.failed');
        break;
      case 'ConversationErrorEvent':
        this.failure = event.code ?? null;
        break;
      case 'CondensationRequest':
        this.condense ??= this.within('condense', event, spanName('condense'));
        break;
      case 'Condensation':
        this.condensed(event);
        break;
      case 'InterruptEvent':
        this.stop(event.at);
        break;
      case 'ConversationStateUpdateEvent':
        if (event.update !== undefined) this.update(event, event.update);
        break;
      default:
        break;
    }
    this.compareClocks(event);
  }

  /** The event that took the least time to be stored says most of how far the clocks are apart. */
  private compareClocks({ storedAfterMs }: TraceEvent): void {
    const root = this.turns.at(-1)?.root;
    if (root === undefined || storedAfterMs === undefined) return;
    root.clockOffsetMs = Math.min(root.clockOffsetMs ?? storedAfterMs, storedAfterMs);
  }

  private update(event: TraceEvent, update: TraceUpdate): void {
    switch (update.key) {
      case 'start_task':
        this.starts.step(event, update.step);
        break;
      case 'execution_status':
        if (update.status === 'running') this.run(event);
        else if (update.status === 'waiting_for_confirmation') this.ask(event);
        else if (this.approval === null || update.status !== 'paused')
          this.rest(
            event.at,
            update.status === 'error' || update.status === 'stuck' ? (this.failure ?? `agent.${update.status}`) : null,
          );
        break;
      case 'confirmation':
        this.endApproval(event.at);
        // Nothing of a call happens before the answer, so its work begins here.
        if (update.accepted)
          for (const tool of this.tools)
            if (update.actionIds.includes(tool.actionId)) tool.draft.start = Math.max(tool.draft.start, event.at);
        break;
      case 'stats': {
        const turn = this.turnFor(event);
        if (turn === null || !this.hasRoom(event)) break;
        this.count += 1;
        turn.logged.push({ id: event.id, seq: event.seq, at: event.at, call: update.call, used: false });
        break;
      }
      case 'sub_agent': {
        const tool = this.tools.find(({ actionId }) => actionId === update.actionId);
        const turn = this.turns.at(-1);
        if (tool !== undefined && turn !== undefined) this.subAgents.inner(event, update, tool.draft, turn);
        break;
      }
    }
  }

  private message(event: TraceEvent): void {
    const { message } = event;
    const root =
      message === undefined
        ? null
        : this.open('turn', event, {
            name: spanName('conversation turn'),
            start: Math.min(message.sentAt ?? event.at, event.at),
          });
    if (root === null || message === undefined) return;
    const before = this.turns.at(-1) ?? null;
    const turn = turnOf(root, event, message.title, message.traceId);
    this.turns.push(turn);
    // A start that was under way before the message was sent is the earlier turn's.
    this.starts.settle((startedAt) =>
      before !== null && message.sentAt !== null && message.sentAt > startedAt + 1_000 ? before.root : root,
    );
    root.start = Math.min(root.start, ...root.children.map(({ start }) => start));
    this.failure = null;
    if (this.agent === null) return;
    this.endApproval(event.at);
    endDraft(this.agent, event.at);
    this.agent = this.begin(turn, event);
  }

  /**
   * The turn that an event belongs to. A log that does not begin with a user's message has one that begins with its
   * first event.
   */
  private turnFor(event: TraceEvent): TurnDraft | null {
    const last = this.turns.at(-1);
    if (last !== undefined) return last;
    const root = this.open('turn', event, { name: spanName('conversation turn'), start: event.at });
    if (root === null) return null;
    const turn = turnOf(root, event, '', null);
    this.turns.push(turn);
    this.starts.settle(() => root);
    root.start = Math.min(root.start, ...root.children.map(({ start }) => start));
    return turn;
  }

  private run(event: TraceEvent): void {
    this.endApproval(event.at);
    this.failure = null;
    const turn = this.turnFor(event);
    if (turn === null) return;
    this.starts.settle(() => turn.root);
    this.agent ??= this.begin(turn, event);
  }

  private begin(turn: TurnDraft, event: TraceEvent): Draft | null {
    const agent = this.open('agent', event, { name: spanName('invoke_agent', 'agent'), start: event.at });
    if (agent !== null) {
      turn.root.children.push(agent);
      turn.agents.push(agent);
    }
    return agent;
  }

  private ask(event: TraceEvent): void {
    this.approval ??= this.within('approval', event, spanName('approval'));
  }

  private endApproval(at: number): void {
    if (this.approval !== null) endDraft(this.approval, at);
    this.approval = null;
  }

  /** The run has come to its end. Calls that have no answer may still get one. */
  private rest(at: number, code: string | null): void {
    this.endApproval(at);
    if (this.agent !== null) endDraft(this.agent, at, code);
    this.agent = null;
    this.starts.over(at);
  }

  private stop(at: number): void {
    for (const { draft } of this.tools) {
      this.subAgents.end(draft, at, STOPPED);
      endDraft(draft, at, STOPPED);
    }
    this.tools = [];
    if (this.approval !== null) endDraft(this.approval, at, STOPPED);
    this.approval = null;
    this.rest(at, STOPPED);
  }

  private action(event: TraceEvent): void {
    const draft = this.within('tool', event, spanName('execute_tool', event.tool));
    if (draft !== null) this.tools.push({ actionId: event.id, toolCallId: event.toolCallId ?? '', draft });
  }

  private answer(belongs: (tool: OpenTool) => boolean, event: TraceEvent, code: string | null): void {
    const tool = this.tools.findLast(belongs);
    if (tool === undefined) return;
    this.tools = this.tools.filter((each) => each !== tool);
    // What another process of the sandbox says of a call is that it does not know what became of it.
    const said = event.kind === 'AgentErrorEvent' && event.epoch > tool.draft.epoch ? LOST : code;
    if (said === 'tool.rejected') tool.draft.start = Math.max(tool.draft.start, event.at);
    this.subAgents.end(tool.draft, event.at, said);
    endDraft(tool.draft, event.at, said);
  }

  private condensed(event: TraceEvent): void {
    const draft = this.condense ?? this.within('condense', event, spanName('condense'));
    if (draft !== null) endDraft(draft, event.at);
    this.condense = null;
  }

  /** A span of the agent's work, or of the turn where the agent does not work. */
  private within(kind: 'tool' | 'approval' | 'condense', event: TraceEvent, name: string): Draft | null {
    const turn = this.turnFor(event);
    const draft = turn === null ? null : this.open(kind, event, { name, start: event.at });
    if (turn === null || draft === null) return null;
    (this.agent ?? turn.root).children.push(draft);
    if (kind === 'condense') turn.condenses.push(draft);
    return draft;
  }

  private hasRoom(event: TraceEvent): boolean {
    if (this.cut === null && this.count >= this.limit) this.cut = { seq: event.seq, at: event.at };
    return this.cut === null;
  }

  private open(kind: TraceSpanKind, event: TraceEvent, { eventId = event.id, name, start }: OpenedSpan): Draft | null {
    if (!this.hasRoom(event)) return null;
    this.count += 1;
    const id = spanId(this.conversationId, eventId, kind);
    return {
      id,
      kind,
      name,
      seq: event.seq,
      start,
      end: null,
      status: 'running',
      code: null,
      epoch: event.epoch,
      children: [],
    };
  }
}

function turnOf(root: Draft, event: TraceEvent, title: string, traceId: string | null): TurnDraft {
  return {
    root,
    messageId: event.id,
    title,
    traceId,
    at: event.at,
    agents: [],
    condenses: [],
    subAgents: [],
    logged: [],
  };
}

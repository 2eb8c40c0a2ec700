import { type Draft, endDraft, spanName, type TurnDraft } from './draft.js';
import type { OpenDraft } from './start-drafts.js';
import type { TraceEvent, TraceUpdate } from './trace-event.js';

interface SubAgent {
  readonly draft: Draft;
  readonly tools: Map<string, { readonly draft: Draft; readonly toolCallId: string }>;
}

/** Agents that work for a call of their parent's. Their events are inside state updates of the parent's log. */
export class SubAgentDrafts {
  /** By the call that they work for, then by task. */
  private readonly agents = new Map<Draft, Map<string, SubAgent>>();

  constructor(private readonly open: OpenDraft) {}

  inner(event: TraceEvent, update: Extract<TraceUpdate, { key: 'sub_agent' }>, tool: Draft, turn: TurnDraft): void {
    const { inner } = update;
    const own = this.agents.get(tool) ?? new Map<string, SubAgent>();
    this.agents.set(tool, own);
    const agent = own.get(update.task) ?? this.begin(event, update, tool, turn);
    if (agent === null) return;
    own.set(update.task, agent);
    if (inner.kind === 'ActionEvent') {
      const draft = this.open('tool', event, {
        eventId: inner.id,
        name: spanName('execute_tool', inner.tool),
        start: inner.at,
      });
      if (draft === null) return;
      // The timeline shows it in the row of the call.
      draft.seq = tool.seq;
      agent.draft.children.push(draft);
      agent.tools.set(inner.id, { draft, toolCallId: inner.toolCallId ?? '' });
      return;
    }
    if (inner.kind !== 'ObservationEvent' && inner.kind !== 'UserRejectObservation' && inner.kind !== 'AgentErrorEvent')
      return;
    for (const [id, { draft, toolCallId }] of agent.tools) {
      if (inner.kind === 'AgentErrorEvent' ? toolCallId !== inner.toolCallId : id !== inner.actionId) continue;
      endDraft(
        draft,
        inner.at,
        inner.kind === 'ObservationEvent' ? (inner.failed === true ? 'tool.failed' : null) : 'tool.failed',
      );
      agent.tools.delete(id);
    }
  }

  /** The call has its answer, so all that worked for it is over. */
  end(tool: Draft, at: number, code: string | null): void {
    for (const { draft, tools } of this.agents.get(tool)?.values() ?? []) {
      for (const inner of tools.values()) endDraft(inner.draft, at, code ?? 'run.ended');
      endDraft(draft, at, code);
    }
    this.agents.delete(tool);
  }

  private begin(
    event: TraceEvent,
    update: Extract<TraceUpdate, { key: 'sub_agent' }>,
    tool: Draft,
    turn: TurnDraft,
  ): SubAgent | null {
    const draft = this.open('sub_agent', event, {
      name: spanName('invoke_agent', update.agent),
      start: Math.max(tool.start, update.inner.at),
    });
    if (draft === null) return null;
    draft.seq = tool.seq;
    tool.children.push(draft);
    turn.subAgents.push(draft);
    return { draft, tools: new Map() };
  }
}

import type { Conversation, ConversationRunSettings, ConversationStatus } from '@slipway/contracts/conversations';
import {
  ConversationEvent,
  type EventOf,
  isUpdateOf,
  type LoggedEvent,
  type StateUpdate,
  stateUpdateOf,
  stateValueOf,
} from '@slipway/contracts/events';
import {
  type ConversationStatusState,
  conversationStatus,
  reduceConversationStatus,
} from '@slipway/domain/conversation-status';
import { appendToTimeline, EMPTY_TIMELINE, joinTimelines, type Timeline } from './timeline.ts';
import { touchesFiles } from './timeline-row.ts';

/**
 * Everything that the screen shows of a log, as a pure function of a snapshot and events. The snapshot speaks for the
 * log up to its `head`; events after it are applied in order, events before it only add rows above.
 */
export interface ConversationView {
  /** The first event that is loaded; 1 when there is nothing above. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly timeline: Timeline;
  /** What `status` is reduced from: nothing else says what state the conversation is in. */
  readonly state: ConversationStatusState;
  readonly status: ConversationStatus;
  readonly title: string;
  /** What it thinks with from its next step on: a model, or `profile/<name>`. */
  readonly model: string;
  /** How far it goes by itself. */
  readonly runSettings: ConversationRunSettings;
  /** US dollars. */
  readonly costUsd: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Tokens of the agent's last call, and how many its model takes; `null` while no call said so. */
  readonly context: ContextUse | null;
  /** When the agent began to work, as the log has it; `null`: it does not work, or its beginning is not loaded. */
  readonly workingSince: string | null;
  /** A start has come to its end once: there are files to ask for. */
  readonly hadWorkspace: boolean;
  /** What was said last of actions before they happen; `null` when nothing was. */
  readonly analysis: EventOf<'SecurityAnalysisEvent'> | null;
  /** `seq` of the last event that may have changed files; 0 when none has since the snapshot. */
  readonly filesTouchedAt: number;
  /** `seq` of the last event that changed the prompt or the tools; 0 when none has since the snapshot. */
  readonly promptSeq: number;
  /** `seq` of the last event that may have changed where the runtime stands; 0 when none has since the snapshot. */
  readonly runtimeAt: number;
  /** `seq` of the last event about a pull request; 0 when there is none since the snapshot. */
  readonly pullRequestAt: number;
  /** `seq` of the last event about a host that the sandbox asked for; 0 when there is none since the snapshot. */
  readonly egressAt: number;
}

export interface ContextUse {
  readonly used: number;
  readonly window: number;
}

export function openView(conversation: Conversation): ConversationView {
  const start =
    conversation.start.status === 'READY' ? 'ready' : conversation.start.status === 'ERROR' ? 'failed' : 'running';
  const halt = conversation.status === 'stopped' ? 'interrupt' : conversation.status === 'paused' ? 'pause' : 'none';
  const state: ConversationStatusState = { execution: conversation.executionStatus, start, halt };
  return {
    firstSeq: conversation.head + 1,
    lastSeq: conversation.head,
    timeline: EMPTY_TIMELINE,
    state,
    status: conversationStatus(state),
    title: conversation.title,
    model: conversation.model,
    runSettings: {
      agentType: conversation.agentType,
      maxIterations: conversation.maxIterations,
      maxBudgetUsd: conversation.maxBudgetUsd,
    },
    costUsd: Number(conversation.costUsd),
    promptTokens: conversation.promptTokens,
    completionTokens: conversation.completionTokens,
    context: null,
    workingSince: null,
    hadWorkspace: start === 'ready' || conversation.start.steps.some((step) => step.status === 'READY'),
    analysis: null,
    filesTouchedAt: 0,
    promptSeq: 0,
    runtimeAt: 0,
    pullRequestAt: 0,
    egressAt: 0,
  };
}

/**
 * Applies live events. Those already seen are ignored; at the first hole it stops and says `gap`: the caller subscribes
 * again from `lastSeq`. Costs one copy of the row list a batch and the size of the batch, whatever the length of the
 * log.
 */
export function applyEvents(
  view: ConversationView,
  events: readonly LoggedEvent[],
): { view: ConversationView; gap: boolean } {
  let last = view.lastSeq;
  const fresh: LoggedEvent[] = [];
  let gap = false;
  for (const logged of events) {
    if (logged.seq <= last) continue;
    gap = logged.seq !== last + 1;
    if (gap) break;
    fresh.push(logged);
    last = logged.seq;
  }
  if (fresh.length === 0) return { view, gap };
  const known = fresh.filter(isKnown);
  const rest = known.reduce<Rest>((current, { seq, event }) => applyToRest(current, seq, event), view);
  return {
    view: {
      ...view,
      ...rest,
      lastSeq: last,
      timeline: appendToTimeline(view.timeline, known),
      status: conversationStatus(rest.state),
    },
    gap,
  };
}

/** Puts a page of older events above. A page that does not end just below `firstSeq` changes nothing. */
export function prependEvents(view: ConversationView, events: readonly LoggedEvent[]): ConversationView {
  const page = events.filter((logged) => logged.seq < view.firstSeq);
  const first = page[0];
  if (first === undefined || page.at(-1)?.seq !== view.firstSeq - 1) return view;
  return {
    ...view,
    firstSeq: first.seq,
    hadWorkspace: view.hadWorkspace || page.some(isReady),
    analysis: view.analysis ?? page.findLast(isAnalysis)?.event ?? null,
    context: view.context ?? lastOf(page, contextOf),
    workingSince: view.status === 'working' ? (view.workingSince ?? lastOf(page, beginOf)) : null,
    timeline: joinTimelines(appendToTimeline(EMPTY_TIMELINE, page.filter(isKnown)), view.timeline),
  };
}

const KINDS = new Set<string>(ConversationEvent.options.map((option) => option.shape.kind.value));

/** A newer server may write kinds that this page was not built for: they count as read and show nothing. */
function isKnown({ event }: LoggedEvent): boolean {
  return KINDS.has(event.kind);
}

/** The last that the events of a page say; `null`: none says it. */
function lastOf<T>(page: readonly LoggedEvent[], read: (event: ConversationEvent) => T | null): T | null {
  for (let index = page.length - 1; index >= 0; index -= 1) {
    const event = page[index]?.event;
    const found = event === undefined ? null : read(event);
    if (found !== null) return found;
  }
  return null;
}

/** When a run began or went on. */
function beginOf(event: ConversationEvent): string | null {
  return stateValueOf(event, 'execution_status') === 'running' ? event.timestamp : null;
}

/** What the agent's last call took of its model's context. */
function contextOf(event: ConversationEvent): ContextUse | null {
  const usage = stateValueOf(event, 'stats')?.usage_to_metrics?.['agent']?.accumulated_token_usage;
  return usage == null || usage.context_window <= 0 || usage.per_turn_token <= 0
    ? null
    : { used: usage.per_turn_token, window: usage.context_window };
}

function isReady({ event }: LoggedEvent): boolean {
  return stateValueOf(event, 'start_task')?.status === 'READY';
}

function isAnalysis(logged: LoggedEvent): logged is LoggedEvent & { event: EventOf<'SecurityAnalysisEvent'> } {
  return logged.event.kind === 'SecurityAnalysisEvent';
}

/** Moves the runtime without moving the status. */
function isOfRuntime(event: ConversationEvent): boolean {
  return isUpdateOf(event, 'sandbox_status') || isUpdateOf(event, 'start_task');
}

type Rest = Pick<
  ConversationView,
  | 'state'
  | 'title'
  | 'model'
  | 'runSettings'
  | 'costUsd'
  | 'promptTokens'
  | 'completionTokens'
  | 'context'
  | 'workingSince'
  | 'hadWorkspace'
  | 'analysis'
  | 'filesTouchedAt'
  | 'promptSeq'
  | 'runtimeAt'
  | 'pullRequestAt'
  | 'egressAt'
>;

function applyToRest(rest: Rest, seq: number, event: ConversationEvent): Rest {
  const state = reduceConversationStatus(rest.state, event);
  const moved =
    state === rest.state
      ? rest
      : {
          ...rest,
          state,
          hadWorkspace: rest.hadWorkspace || state.start === 'ready',
          workingSince: sinceWhen(rest, state, event),
        };
  const next = state !== rest.state || isOfRuntime(event) ? { ...moved, runtimeAt: seq } : moved;
  if (event.kind === 'SystemPromptEvent') return { ...next, promptSeq: seq };
  if (event.kind === 'SecurityAnalysisEvent') return { ...next, analysis: event };
  if (touchesFiles(event)) return { ...next, filesTouchedAt: seq };
  return afterUpdate({ ...next, context: contextOf(event) ?? next.context }, seq, stateUpdateOf(event));
}

function sinceWhen(before: Rest, state: ConversationStatusState, event: ConversationEvent): string | null {
  if (conversationStatus(state) !== 'working') return null;
  return conversationStatus(before.state) === 'working' ? before.workingSince : event.timestamp;
}

function afterUpdate(rest: Rest, seq: number, update: StateUpdate | null): Rest {
  switch (update?.key) {
    case 'title':
      return { ...rest, title: update.value };
    case 'model':
      return { ...rest, model: update.value };
    case 'pull_request':
      return { ...rest, pullRequestAt: seq };
    case 'egress_request':
      return { ...rest, egressAt: seq };
    case 'run_settings':
    case 'terms':
      return { ...rest, runSettings: update.value };
    case 'stats':
      return {
        ...rest,
        costUsd: update.value.accumulated_cost,
        promptTokens: update.value.prompt_tokens,
        completionTokens: update.value.completion_tokens,
      };
    default:
      return rest;
  }
}

import type { Conversation, ConversationRunSettings, ConversationStatus } from '@slipway/contracts/conversations';
import {
  type ConversationEvent,
  type EventOf,
  isUpdateOf,
  type LoggedEvent,
  type StateUpdate,
  stateUpdateOf,
} from '@slipway/contracts/events';
import {
  type ConversationStatusState,
  conversationStatus,
  reduceConversationStatus,
} from '@slipway/domain/conversation-status';
import { type ContextUse, contextOf, isKnown, joinStretches, type Stretch, stretchOf } from './stretch.ts';
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
  /**
   * What was gone to far above, and what was read around it since: between it and `firstSeq` events are missing. It
   * joins the rest once they are read. `null`: nothing is apart.
   */
  readonly apart: Stretch | null;
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

export function openView(conversation: Conversation): ConversationView {
  const start =
    conversation.start.status === 'READY' ? 'ready' : conversation.start.status === 'ERROR' ? 'failed' : 'running';
  const halt = conversation.status === 'stopped' ? 'interrupt' : conversation.status === 'paused' ? 'pause' : 'none';
  const state: ConversationStatusState = { execution: conversation.executionStatus, start, halt };
  return {
    firstSeq: conversation.head + 1,
    lastSeq: conversation.head,
    timeline: EMPTY_TIMELINE,
    apart: null,
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

/**
 * Puts a page of older events where it belongs: above the rest, above the stretch that stands apart, or below that. A
 * page that is a neighbour of none of them changes nothing.
 */
export function prependEvents(view: ConversationView, events: readonly LoggedEvent[]): ConversationView {
  const { firstSeq, apart } = view;
  const older = events.filter(({ seq }) => seq < firstSeq);
  const isBelow = (older.at(-1)?.seq ?? 0) > (apart?.lastSeq ?? 0);
  const page = stretchOf(
    apart === null ? older : older.filter(({ seq }) => (isBelow ? seq > apart.lastSeq : seq < apart.firstSeq)),
  );
  if (page === null) return view;
  if (page.lastSeq === firstSeq - 1) return joined(putAbove(view, page));
  if (page.lastSeq + 1 === apart?.firstSeq) return { ...view, apart: joinStretches(page, apart) };
  return apart !== null && page.firstSeq === apart.lastSeq + 1
    ? joined({ ...view, apart: joinStretches(apart, page) })
    : view;
}

/** Shows events from far above, in place of what stood apart before. */
export function putApart(view: ConversationView, events: readonly LoggedEvent[]): ConversationView {
  const apart = stretchOf(events.filter(({ seq }) => seq < view.firstSeq));
  return apart === null ? view : joined({ ...view, apart });
}

/** Whether an event is loaded. */
export function isLoaded({ firstSeq, apart }: Pick<ConversationView, 'firstSeq' | 'apart'>, seq: number): boolean {
  return seq >= firstSeq || isWithin(apart, seq);
}

function isWithin(stretch: Stretch | null, seq: number): boolean {
  return stretch !== null && seq >= stretch.firstSeq && seq <= stretch.lastSeq;
}

/** What stood apart is put above the rest once nothing is missing between them. */
function joined(view: ConversationView): ConversationView {
  const { apart, firstSeq } = view;
  return apart !== null && apart.lastSeq === firstSeq - 1 ? { ...putAbove(view, apart), apart: null } : view;
}

function putAbove(view: ConversationView, page: Stretch): ConversationView {
  return {
    ...view,
    firstSeq: page.firstSeq,
    hadWorkspace: view.hadWorkspace || page.hadWorkspace,
    analysis: view.analysis ?? page.analysis,
    context: view.context ?? page.context,
    workingSince: view.status === 'working' ? (view.workingSince ?? page.beganAt) : null,
    timeline: joinTimelines(page.timeline, view.timeline),
  };
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

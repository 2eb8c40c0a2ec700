import { AgentAction } from '@slipway/contracts/actions';
import type { StartStep } from '@slipway/contracts/conversations';
import {
  assertNever,
  ConversationEvent,
  type EventOf,
  type LoggedEvent,
  type StateUpdate,
  stateUpdateOf,
} from '@slipway/contracts/events';
import { noticeText } from '@slipway/contracts/sandboxes';
import {
  foldOf,
  joinRows,
  type LoggedInside,
  REJECTED,
  type Row,
  type RowOf,
  type Step,
  textOf,
} from './timeline-row.ts';

/** Rows of a stretch of the log, oldest first. Rows above the last few never change again, so their identity stays. */
export interface Timeline {
  readonly rows: readonly Row[];
  /** Calls that have no answer yet, oldest first; few, because an agent waits for its tools. */
  readonly open: ReadonlyArray<{ readonly actionId: string; readonly toolCallId: string }>;
  /** Events of sub-agents whose task is above the loaded part. */
  readonly strays: readonly InsideEvent[];
}
export const EMPTY_TIMELINE: Timeline = { rows: [], open: [], strays: [] };

/** An event of a sub-agent, and the call that it works for. */
interface InsideEvent {
  readonly actionId: string;
  readonly logged: LoggedInside;
}

/** The timeline after more consecutive events. Copies the list of rows once for the whole batch. */
export function appendToTimeline(timeline: Timeline, events: readonly LoggedEvent[]): Timeline {
  if (events.length === 0) return timeline;
  const draft = new Draft(timeline);
  for (const logged of events) {
    const { seq, event } = logged;
    switch (event.kind) {
      case 'SystemPromptEvent':
        break;
      case 'MessageEvent': {
        const author =
          event.source === 'environment' ? 'slipway' : event.llm_message.role === 'user' ? 'user' : 'agent';
        draft.push({
          kind: 'message',
          key: event.id,
          seq,
          author,
          sender: event.sender ?? null,
          senderId: event.sender_id ?? null,
          at: event.timestamp,
          // With files, what follows the text names them for the model.
          text: textOf(event.attachments ? event.llm_message.content.slice(0, 1) : event.llm_message.content),
          ...(event.attachments ? { files: event.attachments } : {}),
        });
        break;
      }
      case 'ActionEvent':
        draft.action(seq, event);
        break;
      case 'ObservationEvent':
        draft.answer(seq, (open) => open.actionId === event.action_id, {
          ...NO_STEP,
          id: event.action_id,
          toolCallId: event.tool_call_id,
          tool: event.tool_name,
          endedAt: event.timestamp,
          observation: event.observation,
        });
        break;
      case 'UserRejectObservation':
        draft.answer(seq, (open) => open.actionId === event.action_id, {
          ...NO_STEP,
          id: event.id,
          toolCallId: event.tool_call_id,
          tool: event.tool_name,
          endedAt: event.timestamp,
          error: `${REJECTED}${event.rejection_reason}`,
        });
        break;
      case 'SecurityAnalysisEvent':
        break;
      case 'AgentErrorEvent':
        draft.answer(seq, (open) => open.toolCallId === event.tool_call_id, {
          ...NO_STEP,
          id: event.id,
          toolCallId: event.tool_call_id,
          tool: event.tool_name,
          endedAt: event.timestamp,
          error: event.error,
        });
        break;
      case 'ConversationErrorEvent':
        draft.push({ kind: 'error', key: event.id, seq, code: event.code, detail: event.detail });
        break;
      case 'ConversationStateUpdateEvent':
        applyUpdate(draft, logged, stateUpdateOf(event));
        break;
      case 'PauseEvent':
        draft.push({ kind: 'note', key: event.id, seq, note: 'paused' });
        break;
      case 'HookExecutionEvent':
        if (event.blocked || event.error)
          draft.push({
            kind: 'hook',
            key: event.id,
            seq,
            type: event.hook_event_type,
            command: event.hook_command,
            text: event.reason ?? event.error ?? '',
            blocked: event.blocked,
          });
        break;
      case 'CondensationRequest':
        break;
      case 'Condensation':
        // Nothing to forget: nothing to tell.
        if (event.forgotten_event_ids.length > 0 && event.summary)
          draft.push({
            kind: 'summary',
            key: event.id,
            seq,
            forgotten: event.forgotten_event_ids.length,
            text: event.summary,
          });
        break;
      case 'InterruptEvent':
        draft.interrupt();
        draft.push({ kind: 'note', key: event.id, seq, note: 'stopped' });
        break;
      default:
        assertNever(event);
    }
  }
  return draft.done();
}

function applyUpdate(draft: Draft, logged: LoggedEvent, update: StateUpdate | null): void {
  const { seq, event } = logged;
  switch (update?.key) {
    case 'start_task':
      draft.start(seq, update.value);
      break;
    case 'confirmation':
      if (update.value.accepted) draft.approved(update.value.action_ids, event.timestamp);
      break;
    case 'mcp_servers':
      // That all of them are there is nothing to tell.
      if (update.value.told !== '') draft.push({ kind: 'servers', key: event.id, seq, servers: update.value.servers });
      break;
    case 'llm_retry':
      draft.push({ kind: 'retry', key: event.id, seq, failures: 1, detail: update.value.detail });
      break;
    case 'egress_request':
      draft.push({ kind: 'egress', key: event.id, seq, at: event.timestamp, request: update.value });
      break;
    case 'sub_agent': {
      const known = ConversationEvent.safeParse(update.value.event);
      const { action_id: actionId, task_id: taskId } = update.value;
      if (known.success) draft.inside([{ actionId, logged: { ...logged, event: known.data, taskId } }]);
      break;
    }
  }
}

/** Two neighbouring stretches as one: answers find the calls above them, one start stays one row. */
export function joinTimelines(older: Timeline, newer: Timeline): Timeline {
  const draft = new Draft(older);
  draft.inside(newer.strays);
  for (const row of newer.rows) draft.takeIn(row);
  return draft.done(newer.open);
}

/** A notice to the agent of what a row above says of a request, word for word. */
function isSaidAlready(rows: readonly Row[], row: Row): boolean {
  return (
    row.kind === 'message' &&
    row.author === 'slipway' &&
    row.text.startsWith('[Network] ') &&
    rows.some((each) => each.kind === 'egress' && noticeText(each.request) === row.text)
  );
}

const NO_STEP = {
  startedAt: null,
  endedAt: null,
  action: null,
  summary: null,
  observation: null,
  error: null,
  interrupted: false,
};

class Draft {
  private readonly rows: Row[];
  private open: Timeline['open'];
  private strays: Timeline['strays'];

  constructor(timeline: Timeline) {
    this.rows = timeline.rows.slice();
    this.open = timeline.open;
    this.strays = timeline.strays;
  }

  done(moreOpen: Timeline['open'] = []): Timeline {
    return {
      rows: this.rows,
      open: moreOpen.length === 0 ? this.open : [...this.open, ...moreOpen],
      strays: this.strays,
    };
  }

  push(row: Row): void {
    if (isSaidAlready(this.rows, row)) return;
    const joined = joinRows(this.rows.at(-1), row);
    if (joined === null) this.rows.push(row);
    else this.rows[this.rows.length - 1] = joined;
  }

  action(seq: number, event: EventOf<'ActionEvent'>): void {
    const thought = textOf(event.thought).trim();
    if (thought !== '')
      this.push({
        kind: 'message',
        key: `${event.id}:thought`,
        seq,
        author: 'agent',
        sender: null,
        senderId: null,
        at: event.timestamp,
        text: thought,
      });
    const known = AgentAction.safeParse(event.action);
    if (known.success && known.data.kind === 'FinishAction')
      this.push({
        kind: 'message',
        key: event.id,
        seq,
        author: 'finish',
        sender: null,
        senderId: null,
        at: event.timestamp,
        text: known.data.message,
      });
    else if (known.success && known.data.kind === 'ThinkAction')
      this.push({ kind: 'thought', key: event.id, seq, text: known.data.thought });
    else if (known.success && known.data.kind === 'TaskTrackerAction' && known.data.command === 'plan')
      this.push({ kind: 'tasks', key: event.id, seq, tasks: known.data.task_list });
    else {
      const step: Step = {
        ...NO_STEP,
        id: event.id,
        toolCallId: event.tool_call_id,
        tool: event.tool_name,
        startedAt: event.timestamp,
        action: event.action,
        summary: event.summary ?? null,
      };
      this.push({ kind: 'steps', key: event.id, seq, fold: foldOf(step), steps: [step] });
      this.open = [...this.open, { actionId: event.id, toolCallId: event.tool_call_id }];
    }
  }

  /** Answers of think, plan and finish are their own action again: those have no open call and no row. */
  answer(seq: number, belongs: (open: Timeline['open'][number]) => boolean, result: Step): void {
    const call = this.open.findLast(belongs);
    if (call !== undefined) {
      this.open = this.open.filter((entry) => entry !== call);
      this.fill(call.actionId, result);
    } else if (result.error !== null || !OWN_TOOLS.has(result.observation?.kind ?? '')) {
      this.push({ kind: 'steps', key: `${result.id}:answer`, seq, fold: null, steps: [result] });
    }
  }

  /**
   * A row of a newer stretch: an answer without its call looks for it here, and steps of a start that began here join
   * it.
   */
  takeIn(row: Row): void {
    const orphan = row.kind === 'steps' && row.key.endsWith(':answer') ? row.steps[0] : undefined;
    if (row.kind === 'start') this.mergeStart(row);
    else if (orphan !== undefined)
      this.answer(
        row.seq,
        (open) => (orphan.error === null ? open.actionId === orphan.id : open.toolCallId === orphan.toolCallId),
        orphan,
      );
    else {
      if (row.kind === 'note' && row.note === 'stopped') this.interrupt();
      this.push(row);
      // A row that grew at its top is still the same row to who looks at it.
      const last = this.rows.length - 1;
      const grown = this.rows[last];
      if (grown?.kind === 'steps' && grown.key !== row.key) this.rows[last] = { ...grown, key: row.key };
    }
  }

  start(seq: number, step: StartStep): void {
    this.mergeStart({ kind: 'start', key: `start:${step.attempt}`, seq, attempt: step.attempt, steps: [step] });
  }

  /** Puts what a sub-agent did into the step that it works for, or aside until that step is loaded. */
  inside(events: readonly InsideEvent[]): void {
    for (const { actionId, logged } of events) {
      const index = this.rowOfStep(actionId);
      const row = this.rows[index];
      if (row?.kind !== 'steps') this.strays = [...this.strays, { actionId, logged }];
      else
        this.rows[index] = {
          ...row,
          steps: row.steps.map((step) =>
            step.id === actionId ? { ...step, inside: [...(step.inside ?? []), logged] } : step,
          ),
        };
    }
  }

  interrupt(): void {
    for (const { actionId } of this.open) this.fill(actionId, { interrupted: true });
  }

  /**
   * Calls were approved: their work begins now, the first of them at once. Those above the loaded part stay as they
   * are.
   */
  approved(actionIds: readonly string[], at: string): void {
    for (const { actionId } of this.open) if (actionIds.includes(actionId)) this.fill(actionId, { approvedAt: at });
  }

  private mergeStart(row: RowOf<'start'>): void {
    const index = this.rows.findLastIndex((candidate) => candidate.kind === 'start');
    const before = this.rows[index];
    if (before?.kind !== 'start' || before.attempt !== row.attempt) this.rows.push(row);
    else this.rows[index] = { ...before, steps: row.steps.reduce(mergeStep, before.steps) };
  }

  private fill(actionId: string, result: Partial<Step>): void {
    const index = this.rowOfStep(actionId);
    const row = this.rows[index];
    if (row?.kind !== 'steps') return;
    this.rows[index] = {
      ...row,
      steps: row.steps.map((step) =>
        step.id === actionId
          ? {
              ...step,
              ...result,
              id: step.id,
              startedAt: step.startedAt,
              action: step.action,
              summary: step.summary,
              ...((result.approvedAt ?? step.approvedAt) === undefined
                ? {}
                : { approvedAt: result.approvedAt ?? step.approvedAt }),
              interrupted: result.interrupted ?? step.interrupted,
            }
          : step,
      ),
    };
  }

  private rowOfStep(actionId: string): number {
    return this.rows.findLastIndex((row) => row.kind === 'steps' && row.steps.some((step) => step.id === actionId));
  }
}

const OWN_TOOLS = new Set(['ThinkObservation', 'FinishObservation', 'TaskTrackerObservation']);

/** The latest word on each step, in the order in which the steps began. */
function mergeStep(steps: readonly StartStep[], step: StartStep): readonly StartStep[] {
  const index = steps.findIndex((candidate) => candidate.status === step.status);
  return index === -1 ? [...steps, step] : steps.map((candidate, at) => (at === index ? step : candidate));
}

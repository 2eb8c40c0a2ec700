import { type ConversationStatus, type StartStep, type WorkspaceState } from '@slipway/contracts/conversations';
import { ERROR_CODES, type ErrorCode } from '@slipway/contracts/errors';
import {
  assertNever,
  type ConversationEvent,
  type ExecutionStatus,
  type StateUpdate,
  stateUpdateOf,
} from '@slipway/contracts/events';

/** What must be remembered of a log to know the status after its next event. */
export interface ConversationStatusState {
  readonly execution: ExecutionStatus;
  /** How the last start went; a conversation begins by starting. */
  readonly start: 'running' | 'ready' | 'failed';
  /** Why the agent halted last, if nothing has run since. */
  readonly halt: 'none' | 'pause' | 'interrupt';
  /** What ended the last run, until another begins. */
  readonly failure?: { readonly code: ErrorCode; readonly detail: string } | null;
  /** What a call of the model failed with that is made again, until the agent says anything else. */
  readonly retry?: { readonly code: ErrorCode; readonly detail: string } | null;
  /** What became of the files when the sandbox was given back, as far as it is known; absent with a sandbox. */
  readonly workspace?: WorkspaceState | null;
}

/** Most of a failure's words that is remembered. UTF-16 code units. */
const MAX_DETAIL = 1_000;

/**
 * As a database takes it: without NUL, and without half of a surrogate pair, where a failure's words are cut or came
 * so.
 */
function kept(detail: string): string {
  return detail
    .slice(0, MAX_DETAIL)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replaceAll('\0', '\uFFFD')
    .toWellFormed();
}

/** Limits that end a run without anything being broken. A log may have one without the pause that belongs to it. */
const LIMITS: ReadonlySet<ErrorCode> = new Set(['agent.budget-limit', 'budget.exhausted', 'agent.iteration-limit']);

const CLEARED = { failure: null, retry: null } as const;

export const INITIAL_STATUS: ConversationStatusState = { execution: 'idle', start: 'running', halt: 'none' };

/** The one place that says what state a conversation is in: every screen and the server's own column come from here. */
export function conversationStatus(state: ConversationStatusState): ConversationStatus {
  if (state.start === 'failed') return 'failed';
  // Halted while it was starting: what is left of that start does not change it.
  if (state.start === 'running')
    return state.halt === 'interrupt' ? 'stopped' : state.halt === 'pause' ? 'paused' : 'starting';
  switch (state.execution) {
    case 'running':
      return 'working';
    case 'waiting_for_confirmation':
      return 'waiting';
    case 'finished':
      return 'finished';
    case 'error':
    case 'stuck':
      return 'failed';
    case 'idle':
    case 'paused':
    case 'deleting':
      if (state.halt === 'interrupt') return 'stopped';
      return state.halt === 'pause' || hasReachedLimit(state) ? 'paused' : 'waiting';
    default:
      return assertNever(state.execution);
  }
}

function hasReachedLimit({ execution, failure }: ConversationStatusState): boolean {
  return execution === 'paused' && failure != null && LIMITS.has(failure.code);
}

/** The state after one more event. Events that say nothing of the status return the same object. */
export function reduceConversationStatus(
  state: ConversationStatusState,
  event: ConversationEvent,
): ConversationStatusState {
  switch (event.kind) {
    case 'PauseEvent': {
      // An earlier failure that the agent survived is not the reason of a user's pause; the failure that ended a run is
      // still shown. The pause that follows a full storage is the platform's own, whatever source the agent gives it.
      const ended =
        state.execution === 'error' || state.execution === 'stuck' || state.failure?.code === 'storage.exhausted';
      return event.source === 'user' && !ended && state.failure != null
        ? { ...state, halt: 'pause', failure: null }
        : { ...state, halt: 'pause' };
    }
    case 'InterruptEvent':
      return { ...state, halt: 'interrupt' };
    case 'ConversationStateUpdateEvent':
      return afterUpdate(state, stateUpdateOf(event));
    case 'ConversationErrorEvent': {
      const code = ERROR_CODES.find((known) => known === event.code);
      return code === undefined ? state : { ...state, failure: { code, detail: kept(event.detail) } };
    }
    case 'SystemPromptEvent':
    case 'MessageEvent':
    case 'ActionEvent':
    case 'ObservationEvent':
    case 'UserRejectObservation':
    case 'SecurityAnalysisEvent':
    case 'AgentErrorEvent':
    case 'HookExecutionEvent':
    case 'CondensationRequest':
    case 'Condensation':
      return state;
    default:
      return assertNever(event);
  }
}

function afterUpdate(state: ConversationStatusState, update: StateUpdate | null): ConversationStatusState {
  switch (update?.key) {
    case 'execution_status': {
      const execution = update.value;
      return {
        ...state,
        execution,
        halt: execution === 'running' ? 'none' : state.halt,
        ...(execution === 'running' ? CLEARED : { retry: null }),
      };
    }
    case 'start_task':
      return afterStartStep(state, update.value);
    case 'llm_retry':
      return { ...state, retry: { code: update.value.code, detail: kept(update.value.detail) } };
    case 'workspace':
      return { ...state, workspace: update.value };
    // A call of the model was counted: it was answered.
    case 'stats':
      return state.retry == null ? state : { ...state, retry: null };
    default:
      return state;
  }
}

function afterStartStep(state: ConversationStatusState, step: StartStep): ConversationStatusState {
  const start = step.status === 'READY' ? 'ready' : step.status === 'ERROR' ? 'failed' : 'running';
  // A start that begins means that the conversation is to go on.
  const halt =
    start === 'running' && (state.start !== 'running' || (step.status === 'WORKING' && step.state === 'running'))
      ? 'none'
      : state.halt;
  const begins = start === 'running' && state.start !== 'running';
  if (start === state.start && halt === state.halt) return state;
  return { ...state, start, halt, ...(begins ? { ...CLEARED, workspace: null } : {}) };
}

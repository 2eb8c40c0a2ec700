import { assertNever, type ConversationEvent, type ConversationStatus, EXECUTION_STATUSES, type ExecutionStatus, StartStep } from '@slipway/contracts';

/** What must be remembered of a log to know the status after its next event. */
export interface ConversationStatusState {
  readonly execution: ExecutionStatus;
  /** How the last start went; a conversation begins by starting. */
  readonly start: 'running' | 'ready' | 'failed';
  /** Why the agent halted last, if nothing has run since. */
  readonly halt: 'none' | 'pause' | 'interrupt';
}

export const INITIAL_STATUS: ConversationStatusState = { execution: 'idle', start: 'running', halt: 'none' };

/** The one place that says what state a conversation is in: every screen and the server's own column come from here. */
export function conversationStatus(state: ConversationStatusState): ConversationStatus {
  if (state.start === 'failed') return 'failed';
  // Halted while it was starting: what is left of that start does not change it.
  if (state.start === 'running') return state.halt === 'interrupt' ? 'stopped' : state.halt === 'pause' ? 'paused' : 'starting';
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
      return state.halt === 'interrupt' ? 'stopped' : state.halt === 'pause' ? 'paused' : 'waiting';
    default:
      return assertNever(state.execution);
  }
}

/** The state after one more event. Events that say nothing of the status return the same object. */
export function reduceConversationStatus(state: ConversationStatusState, event: ConversationEvent): ConversationStatusState {
  switch (event.kind) {
    case 'PauseEvent':
      return { ...state, halt: 'pause' };
    case 'InterruptEvent':
      return { ...state, halt: 'interrupt' };
    case 'ConversationStateUpdateEvent': {
      if (event.key === 'execution_status') {
        const execution = EXECUTION_STATUSES.find((status) => status === event.value);
        if (execution === undefined) return state;
        return { ...state, execution, halt: execution === 'running' ? 'none' : state.halt };
      }
      if (event.key === 'start_task') {
        const step = StartStep.safeParse(event.value);
        if (!step.success) return state;
        const start = step.data.status === 'READY' ? 'ready' : step.data.status === 'ERROR' ? 'failed' : 'running';
        // A start that begins means that somebody wants it to go on.
        const halt =
          start === 'running' && (state.start !== 'running' || (step.data.status === 'WORKING' && step.data.state === 'running')) ? 'none' : state.halt;
        return start === state.start && halt === state.halt ? state : { ...state, start, halt };
      }
      return state;
    }
    case 'SystemPromptEvent':
    case 'MessageEvent':
    case 'ActionEvent':
    case 'ObservationEvent':
    case 'UserRejectObservation':
    case 'SecurityAnalysisEvent':
    case 'AgentErrorEvent':
    case 'ConversationErrorEvent':
    case 'HookExecutionEvent':
    case 'CondensationRequest':
    case 'Condensation':
      return state;
    default:
      return assertNever(event);
  }
}

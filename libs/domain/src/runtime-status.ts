import {
  type RuntimeState,
  type RuntimeStatus,
  type SandboxStatus,
  type StartStatus,
  type StartStep,
} from '@slipway/contracts/conversations';
import { ERROR_CODES, ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import type { ConversationStatusState } from './conversation-status.js';

const FAILURES: Partial<Record<ErrorCode, RuntimeStatus>> = {
  'model.auth': 'ERROR_LLM_AUTHENTICATION',
  'auth.missing': 'ERROR_LLM_AUTHENTICATION',
  'model.quota': 'ERROR_LLM_OUT_OF_CREDITS',
  'budget.exhausted': 'ERROR_LLM_OUT_OF_CREDITS',
  'agent.budget-limit': 'ERROR_LLM_OUT_OF_CREDITS',
  'model.rate-limited': 'AGENT_RATE_LIMITED_STOPPED_MESSAGE',
  'rate.limited': 'AGENT_RATE_LIMITED_STOPPED_MESSAGE',
  'model.content-policy': 'ERROR_LLM_CONTENT_POLICY_VIOLATION',
  'model.unavailable': 'ERROR_LLM_SERVICE_UNAVAILABLE',
  'model.timeout': 'ERROR_LLM_SERVICE_UNAVAILABLE',
  'service.unavailable': 'ERROR_LLM_SERVICE_UNAVAILABLE',
  'model.bad-response': 'ERROR_LLM_INTERNAL_SERVER_ERROR',
  'model.context-exceeded': 'ERROR_MEMORY',
  'repository.private': 'GIT_PROVIDER_AUTHENTICATION_ERROR',
  'sandbox.unreachable': 'ERROR_RUNTIME_DISCONNECTED',
  'sandbox.timeout': 'ERROR_RUNTIME_DISCONNECTED',
};

/** The seeds' status of what ended a run or a start. */
export function runtimeStatusOf(code: ErrorCode): RuntimeStatus {
  return FAILURES[code] ?? 'ERROR';
}

/**
 * Ours has steps between theirs: the repository comes into a runtime that has started, and skills and the agent come
 * after the hooks.
 */
const OF_START: Record<Exclude<StartStatus, 'ERROR'>, RuntimeStatus> = {
  WORKING: 'BUILDING_RUNTIME',
  WAITING_FOR_SANDBOX: 'STARTING_RUNTIME',
  PREPARING_REPOSITORY: 'RUNTIME_STARTED',
  RUNNING_SETUP_SCRIPT: 'SETTING_UP_WORKSPACE',
  SETTING_UP_GIT_HOOKS: 'SETTING_UP_GIT_HOOKS',
  SETTING_UP_SKILLS: 'SETTING_UP_GIT_HOOKS',
  STARTING_CONVERSATION: 'SETTING_UP_GIT_HOOKS',
  READY: 'READY',
};

const GO_ON = 'Send a message, or resume it, to go on.';

/** Where the runtime of a conversation stands, from its row. A state that needs an action says why and which. */
export function runtimeState(row: {
  readonly state: ConversationStatusState;
  readonly startStatus: StartStatus;
  readonly steps: readonly StartStep[];
  readonly sandboxStatus: SandboxStatus;
}): RuntimeState {
  const { state, startStatus, sandboxStatus } = row;
  const failure =
    state.failure == null ? null : { ...state.failure, code: knownOf(state.failure.code, 'internal.unexpected') };
  if (state.start === 'failed' || startStatus === 'ERROR') {
    const step = row.steps.findLast((each) => each.state === 'failed');
    return failed(knownOf(step?.code, 'sandbox.start-failed'), step?.detail);
  }
  if (state.execution === 'error' || state.execution === 'stuck')
    return failed(
      failure?.code ?? (state.execution === 'stuck' ? 'agent.stuck' : 'internal.unexpected'),
      failure?.detail,
    );
  // A limit that was reached: nothing is broken, and nothing goes on by itself.
  if (state.execution === 'paused' && failure !== null && state.halt !== 'interrupt')
    return { status: 'STOPPED', code: failure.code, cause: failure.detail, nextStep: ERRORS[failure.code].nextStep };
  if (state.start === 'running') return state.halt === 'none' ? { status: OF_START[startStatus] } : stopped(state.halt);
  if (sandboxStatus === 'MISSING' || sandboxStatus === 'ERROR')
    return failed('sandbox.unreachable', 'The sandbox is gone or does not answer.');
  if (sandboxStatus === 'PAUSED') return paused(state.workspace ?? null);
  if (state.halt !== 'none') return stopped(state.halt);
  if (state.retry != null)
    return { status: 'LLM_RETRY', code: knownOf(state.retry.code, 'model.unavailable'), cause: state.retry.detail };
  return { status: 'READY' };
}

/** Rows outlive releases, and other replicas write them: an unknown code is shown by its text alone. */
function knownOf(code: string | undefined, otherwise: ErrorCode): ErrorCode {
  return ERROR_CODES.find((known) => known === code) ?? otherwise;
}

function failed(code: ErrorCode, detail: string | undefined): RuntimeState {
  return { status: runtimeStatusOf(code), code, cause: detail ?? ERRORS[code].title, nextStep: ERRORS[code].nextStep };
}

function stopped(halt: 'pause' | 'interrupt'): RuntimeState {
  return { status: 'STOPPED', cause: halt === 'pause' ? 'A user paused it.' : 'A user stopped it.', nextStep: GO_ON };
}

/** Nothing says that files are kept before they are. */
function paused(workspace: ConversationStatusState['workspace']): RuntimeState {
  switch (workspace?.state) {
    case 'kept':
      return { status: 'STOPPED', cause: 'The sandbox is paused; its workspace is kept.', nextStep: GO_ON };
    case 'saving':
      return { status: 'STOPPED', cause: 'The sandbox is paused; its workspace is being saved.', nextStep: GO_ON };
    case 'not-kept':
    case 'lost': {
      const code = workspace.state === 'lost' ? 'sandbox.workspace-lost' : 'sandbox.workspace-not-kept';
      const { title, nextStep } = ERRORS[code];
      return {
        status: 'STOPPED',
        code,
        cause: workspace.detail === undefined ? `${title}.` : `${title}: ${workspace.detail}`,
        nextStep,
      };
    }
    default:
      return { status: 'STOPPED', cause: 'The sandbox is paused.', nextStep: GO_ON };
  }
}

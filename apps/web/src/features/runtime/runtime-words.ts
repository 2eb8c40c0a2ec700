import type { ConversationStatus, RuntimeState, RuntimeStatus } from '@slipway/contracts';
import type { Row } from '../conversation/timeline-row.ts';
import { LIMIT_CODES } from '../run-settings/limit.ts';

export const RUNTIME_LABELS: Record<RuntimeStatus, string> = {
  STOPPED: 'Not running',
  BUILDING_RUNTIME: 'Taking the task',
  STARTING_RUNTIME: 'Getting a sandbox',
  RUNTIME_STARTED: 'Preparing the repository',
  SETTING_UP_WORKSPACE: 'Running the setup script',
  SETTING_UP_GIT_HOOKS: 'Setting up hooks and skills',
  READY: 'Ready',
  ERROR: 'Failed',
  ERROR_RUNTIME_DISCONNECTED: 'Sandbox not reachable',
  ERROR_LLM_AUTHENTICATION: 'The model refused the key',
  ERROR_LLM_SERVICE_UNAVAILABLE: 'The model is not reachable',
  ERROR_LLM_INTERNAL_SERVER_ERROR: 'The model answered with nonsense',
  ERROR_LLM_OUT_OF_CREDITS: 'Out of money',
  ERROR_LLM_CONTENT_POLICY_VIOLATION: 'Refused by the content policy',
  AGENT_RATE_LIMITED_STOPPED_MESSAGE: 'Too many requests',
  GIT_PROVIDER_AUTHENTICATION_ERROR: 'The repository refused access',
  LLM_RETRY: 'The model is asked again',
  ERROR_MEMORY: 'Too long for the model',
};

const RESUMED: ReadonlySet<ConversationStatus> = new Set(['paused', 'stopped', 'failed']);

/** Why it stands as it stands and what to do, each said once: a cause may end with what to do. To resume is said only where the page offers it. */
export function reasonOf({ code, cause = '', nextStep = '' }: RuntimeState, status: ConversationStatus): { readonly cause: string; readonly nextStep: string } {
  const goOn = code === undefined && nextStep !== '' && !RESUMED.has(status);
  return { cause: (nextStep === '' ? cause : cause.replace(nextStep, '')).trim(), nextStep: goOn ? 'Send a message to go on.' : nextStep };
}

/** What is to be said where a conversation has ended and its timeline does not say it: rows of errors, starts that failed and limits tell their own. `null`: nothing. */
export function unexplainedEnd(runtime: RuntimeState, status: ConversationStatus, rows: readonly Row[]): ReturnType<typeof reasonOf> | null {
  if (runtime.nextStep === undefined || status === 'starting' || status === 'working') return null;
  const { code } = runtime;
  if (code !== undefined && LIMIT_CODES.has(code)) return null;
  const told = rows.findLast((row) => row.kind === 'error' || row.kind === 'start');
  if (code !== undefined && told?.kind === 'error' && told.code === code) return null;
  if (status === 'failed' && told?.kind === 'start') return null;
  const reason = reasonOf(runtime, status);
  // The line above says that it was stopped, or paused.
  return code === undefined && rows.at(-1)?.kind === 'note' ? { ...reason, cause: '' } : reason;
}

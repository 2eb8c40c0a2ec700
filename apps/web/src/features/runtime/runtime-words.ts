import type { ConversationStatus, RuntimeState, RuntimeStatus } from '@slipway/contracts/conversations';
import type { MessageKey, Translate } from '../../messages/translate.ts';
import type { Row } from '../conversation/timeline-row.ts';
import { LIMIT_CODES } from '../run-settings/limit.ts';

export const RUNTIME_LABELS: Record<RuntimeStatus, MessageKey> = {
  STOPPED: 'runtime.notRunning',
  BUILDING_RUNTIME: 'runtime.takingTheTask',
  STARTING_RUNTIME: 'runtime.gettingASandbox',
  RUNTIME_STARTED: 'runtime.preparingTheRepository',
  SETTING_UP_WORKSPACE: 'runtime.runningTheSetupScript',
  SETTING_UP_GIT_HOOKS: 'runtime.settingUpHooksAndSkills',
  READY: 'runtime.ready',
  ERROR: 'common.failed',
  ERROR_RUNTIME_DISCONNECTED: 'runtime.sandboxUnreachable',
  ERROR_LLM_AUTHENTICATION: 'runtime.theModelProviderRejectedThe',
  ERROR_LLM_SERVICE_UNAVAILABLE: 'runtime.theModelProviderIsUnreachable',
  ERROR_LLM_INTERNAL_SERVER_ERROR: 'runtime.theModelSentAnInvalid',
  ERROR_LLM_OUT_OF_CREDITS: 'runtime.providerCreditsUsedUp',
  ERROR_LLM_CONTENT_POLICY_VIOLATION: 'runtime.refusedByTheContentPolicy',
  AGENT_RATE_LIMITED_STOPPED_MESSAGE: 'runtime.tooManyRequests',
  GIT_PROVIDER_AUTHENTICATION_ERROR: 'runtime.accessToTheRepositoryWas',
  LLM_RETRY: 'runtime.retryingTheModel',
  ERROR_MEMORY: 'runtime.tooLongForTheModel',
};

const RESUMED: ReadonlySet<ConversationStatus> = new Set(['paused', 'stopped', 'failed']);

/**
 * Why it stands as it stands and what to do, each said once: a cause may end with what to do. To resume is said only
 * where the page offers it.
 */
export function reasonOf(
  t: Translate,
  { code, cause = '', nextStep = '' }: RuntimeState,
  status: ConversationStatus,
): { readonly cause: string; readonly nextStep: string } {
  const goOn = code === undefined && nextStep !== '' && !RESUMED.has(status);
  return {
    cause: (nextStep === '' ? cause : cause.replace(nextStep, '')).trim(),
    nextStep: goOn ? t('runtime.sendAMessageToContinue') : nextStep,
  };
}

/**
 * What is to be said where a conversation has ended and its timeline does not say it: rows of errors, starts that
 * failed and limits tell their own. `null`: nothing.
 */
export function unexplainedEnd(
  t: Translate,
  runtime: RuntimeState,
  status: ConversationStatus,
  rows: readonly Row[],
): ReturnType<typeof reasonOf> | null {
  if (runtime.nextStep === undefined || status === 'starting' || status === 'working') return null;
  const { code } = runtime;
  if (code !== undefined && LIMIT_CODES.has(code)) return null;
  const shown = rows.findLast((row) => row.kind === 'error' || row.kind === 'start');
  if (code !== undefined && shown?.kind === 'error' && shown.code === code) return null;
  if (status === 'failed' && shown?.kind === 'start') return null;
  const reason = reasonOf(t, runtime, status);
  // The line above says that it was stopped, or paused.
  return code === undefined && rows.at(-1)?.kind === 'note' ? { ...reason, cause: '' } : reason;
}

import type { ErrorCode } from '@slipway/contracts';

/** Why a run ended, in the words of the seeds' RuntimeStatus. */
type LlmStatus =
  | 'ERROR_LLM_AUTHENTICATION'
  | 'ERROR_LLM_SERVICE_UNAVAILABLE'
  | 'ERROR_LLM_INTERNAL_SERVER_ERROR'
  | 'ERROR_LLM_OUT_OF_CREDITS'
  | 'ERROR_LLM_CONTENT_POLICY_VIOLATION'
  | 'AGENT_RATE_LIMITED_STOPPED_MESSAGE';

const STATUSES: Partial<Record<ErrorCode, LlmStatus>> = {
  'model.auth': 'ERROR_LLM_AUTHENTICATION',
  'auth.missing': 'ERROR_LLM_AUTHENTICATION',
  'model.quota': 'ERROR_LLM_OUT_OF_CREDITS',
  'budget.exhausted': 'ERROR_LLM_OUT_OF_CREDITS',
  'model.rate-limited': 'AGENT_RATE_LIMITED_STOPPED_MESSAGE',
  'rate.limited': 'AGENT_RATE_LIMITED_STOPPED_MESSAGE',
  'model.content-policy': 'ERROR_LLM_CONTENT_POLICY_VIOLATION',
  'model.unavailable': 'ERROR_LLM_SERVICE_UNAVAILABLE',
  'model.timeout': 'ERROR_LLM_SERVICE_UNAVAILABLE',
  'service.unavailable': 'ERROR_LLM_SERVICE_UNAVAILABLE',
  'model.bad-response': 'ERROR_LLM_INTERNAL_SERVER_ERROR',
};

/** The seeds' status of a failure of a model; `null` for every other failure. */
export function llmStatusOf(code: ErrorCode): LlmStatus | null {
  return STATUSES[code] ?? null;
}

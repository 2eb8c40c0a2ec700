import { z } from 'zod';
import { ERROR_CODES } from '../errors/error-codes.js';

/** OpenHands' RuntimeStatus, name for name (seed 003). */
export const RUNTIME_STATUS_NAMES = [
  'STOPPED',
  'BUILDING_RUNTIME',
  'STARTING_RUNTIME',
  'RUNTIME_STARTED',
  'SETTING_UP_WORKSPACE',
  'SETTING_UP_GIT_HOOKS',
  'READY',
  'ERROR',
  'ERROR_RUNTIME_DISCONNECTED',
  'ERROR_LLM_AUTHENTICATION',
  'ERROR_LLM_SERVICE_UNAVAILABLE',
  'ERROR_LLM_INTERNAL_SERVER_ERROR',
  'ERROR_LLM_OUT_OF_CREDITS',
  'ERROR_LLM_CONTENT_POLICY_VIOLATION',
  'AGENT_RATE_LIMITED_STOPPED_MESSAGE',
  'GIT_PROVIDER_AUTHENTICATION_ERROR',
  'LLM_RETRY',
  'ERROR_MEMORY',
] as const;
export const RuntimeStatus = z.enum(RUNTIME_STATUS_NAMES);
export type RuntimeStatus = z.infer<typeof RuntimeStatus>;

/**
 * Value of a state update with key `llm_retry`: a call of the model failed and is made again after `wait_ms`. `attempt`
 * is that of the failure; 1 is the first.
 */
export const LlmRetry = z.looseObject({
  code: z.enum(ERROR_CODES),
  detail: z.string().max(4_000),
  attempt: z.int().positive(),
  wait_ms: z.number().nonnegative(),
});
export type LlmRetry = z.infer<typeof LlmRetry>;

/**
 * Where the runtime of a conversation stands. Where it needs an action to go on, `cause` and `nextStep` say why and
 * which; `code` where it is a failure, and while a call of the model is tried again.
 */
export const RuntimeState = z.object({
  status: RuntimeStatus,
  code: z.enum(ERROR_CODES).optional(),
  cause: z.string().max(4_000).optional(),
  nextStep: z.string().optional(),
});
export type RuntimeState = z.infer<typeof RuntimeState>;

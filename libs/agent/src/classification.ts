import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { type ErrorClassification } from '@slipway/contracts/events';
import type { z } from 'zod';

type Classification = z.infer<typeof ErrorClassification>;

const KINDS: Partial<Record<ErrorCode, Classification['kind']>> = {
  'model.auth': 'auth',
  'model.quota': 'quota',
  'budget.exhausted': 'quota',
  'model.rate-limited': 'rate_limit',
  'model.unknown': 'config',
  'model.unavailable': 'transient',
  'model.timeout': 'transient',
  'model.content-policy': 'agent_action',
  'model.bad-response': 'transient',
  'model.context-exceeded': 'agent_action',
  'request.invalid': 'config',
  'agent.iteration-limit': 'agent_action',
  'agent.budget-limit': 'quota',
  'agent.stuck': 'agent_action',
  'sandbox.disk-full': 'agent_action',
  'internal.unexpected': 'internal',
};

/** What a user can do about the error code that ended a run, in OpenHands' classes. */
export function classify(code: ErrorCode): Classification {
  const kind = KINDS[code] ?? 'unknown';
  const retryable = ERRORS[code].retry === 'later';
  return {
    kind,
    retryable,
    user_action: retryable ? 'retry' : kind === 'auth' || kind === 'quota' || kind === 'config' ? 'settings' : 'none',
  };
}

import type { ErrorCode } from '@slipway/contracts/errors';

/** Why a call failed, as far as it matters for what is tried next. */
export const FALLBACK_CLASSES = ['context', 'content-policy', 'rate-limit', 'any'] as const;
export type FallbackClass = (typeof FALLBACK_CLASSES)[number];

/**
 * `null`: the request itself is at fault, or it is over: it would fail everywhere. `context` and `content-policy` are
 * for another model; they say nothing of the deployment's health. The others are for another deployment, and then
 * another model.
 */
export function failureClassOf(code: ErrorCode): FallbackClass | null {
  switch (code) {
    case 'model.context-exceeded':
      return 'context';
    case 'model.content-policy':
      return 'content-policy';
    case 'model.rate-limited':
      return 'rate-limit';
    case 'model.auth':
    case 'model.quota':
    case 'model.unknown':
    case 'model.timeout':
    case 'model.unavailable':
    case 'model.bad-response':
      return 'any';
    default:
      return null;
  }
}

import type { ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';

/**
 * What is known of a call that failed. `unreachable`: nothing listens there. `answered`: a refusal, and the code of
 * ours that it names.
 */
export type AgentFailure =
  | { readonly kind: 'unreachable' | 'timeout' | 'broken' }
  | { readonly kind: 'answered'; readonly status: number; readonly code: ErrorCode | null };

/**
 * A failed call of agent-server. `code` is for whoever asked: a refusal that the route's entry lists, else
 * `sandbox.unreachable`. `failure` is for a program that decides by what happened.
 */
export class AgentError extends SlipwayError {
  constructor(
    code: ErrorCode,
    detail: string,
    readonly failure: AgentFailure,
    more: SlipwayError['more'] = {},
  ) {
    super(code, detail, more);
  }
}

/** Whether agent-server has neither the route nor, for all that it says, what the path names. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof AgentError) || error.failure.kind !== 'answered') return false;
  const { status, code } = error.failure;
  return code === null ? status === 404 : code === 'resource.not-found';
}

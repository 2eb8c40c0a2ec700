import { ProviderRefusal } from '@slipway/integrations';
import { isRefusedAddress } from '@slipway/outside/agent';
import { BAD_TOKEN } from '../write-access.js';
import type { AnswerKind } from './answers.queries.js';

/** What a call that did not succeed means for the answer, with a sentence for people. */
export type CallFailure = {
  readonly problem: string;
  /** The call has had no effect. */
  readonly certain: boolean;
} & (
  | { readonly kind: 'later'; readonly at: Date | null; readonly limited: boolean }
  | { readonly kind: 'credential' }
  /** The comment, or its thread. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'final' }
);

const NO_WAY =
  'The ticket cannot be moved: its workflow has no way on that asks for nothing, or the access token may not take it.';

/** `null`: no failure of the provider. */
export function failureOf(error: unknown, host: string, what: AnswerKind): CallFailure | null {
  const failure = failureOfCall(error, host);
  return failure?.kind === 'final' && what === 'move' && error instanceof ProviderRefusal
    ? { ...failure, problem: NO_WAY }
    : failure;
}

function failureOfCall(error: unknown, host: string): CallFailure | null {
  if (isRefusedAddress(error))
    return {
      kind: 'final',
      certain: true,
      problem: `${host} is not at a public address, and the operator has not named it (INTEGRATION_PRIVATE_HOSTS).`,
    };
  if (!(error instanceof ProviderRefusal)) return null;
  const { kind, status, retryAt, outcomeUnknown } = error;
  const certain = !outcomeUnknown;
  switch (kind) {
    case 'limited':
      return { kind: 'later', limited: true, at: retryAt, certain, problem: 'The provider limits our calls.' };
    case 'unavailable':
      return {
        kind: 'later',
        limited: false,
        at: retryAt,
        certain,
        problem: `${host} does not answer${status === null ? '' : ` (${status})`}.`,
      };
    case 'unreadable':
      return {
        kind: 'later',
        limited: false,
        at: null,
        certain,
        problem: `The answer of ${host} is none that we know.`,
      };
    case 'credential':
      return { kind: 'credential', certain, problem: BAD_TOKEN };
    case 'forbidden':
      return {
        kind: 'final',
        certain,
        problem: 'The access token may not comment there: it needs the right to write issues and pull requests.',
      };
    case 'missing':
      return {
        kind: 'gone',
        certain,
        problem: 'The thread or our comment is gone at the provider, or the access token does not reach it.',
      };
    case 'conflict':
    case 'invalid':
      return {
        kind: 'final',
        certain,
        problem: `The provider does not take the comment (${status}); the thread may be locked.`,
      };
  }
}

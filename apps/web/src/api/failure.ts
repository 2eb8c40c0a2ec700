import { ApiError } from '@slipway/api-client';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';

/** A failure as a user reads it: what happened, what to do, what to quote. */
export interface Failure {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly nextStep: string;
  readonly retry: 'never' | 'later';
  readonly requestId: string | undefined;
  readonly fields: ReadonlyArray<{ path: string; message: string }>;
}

/** What a code says by itself. An unknown code (a newer server's) has the words of its response. */
export function failureOfCode(code: string, detail = ''): Failure {
  const row = ERRORS[isErrorCode(code) ? code : 'internal.unexpected'];
  return {
    code,
    title: isErrorCode(code) ? row.title : 'Something went wrong',
    detail,
    // A detail may say it already.
    nextStep: detail.includes(row.nextStep) ? '' : row.nextStep,
    retry: row.retry,
    requestId: undefined,
    fields: [],
  };
}

/** Whatever a call or a render threw. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError))
    return failureOfCode('internal.unexpected', error instanceof Error ? error.message : '');
  const { problem } = error;
  const known = failureOfCode(problem.code, problem.detail === problem.title ? '' : problem.detail);
  return {
    ...known,
    title: problem.title || known.title,
    retry: problem.retry,
    requestId: problem.requestId,
    fields: problem.fields ?? [],
  };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

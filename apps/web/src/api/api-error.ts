import { ERRORS, type ErrorCode, Problem } from '@slipway/contracts';

/** A call that failed, in words for a person. `code` is one of `ERRORS`, or `network` when no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly nextStep: string,
    readonly retry: 'never' | 'later',
    readonly requestId: string | undefined,
    readonly fields: ReadonlyArray<{ path: string; message: string }>,
  ) {
    super(detail);
  }
}

/** The error that a failed response describes. An answer without a problem body (a proxy's page) is told by its status. */
export function errorFromBody(status: number, body: unknown): ApiError {
  const problem = Problem.safeParse(body);
  if (!problem.success) return errorFromCode(status === 401 ? 'auth.missing' : status === 404 ? 'resource.not-found' : status >= 502 && status <= 504 ? 'service.unavailable' : 'internal.unexpected');
  const { code, title, detail, retry, requestId, fields } = problem.data;
  return new ApiError(code, title, detail, nextStepOf(code), retry, requestId, fields ?? []);
}

export function errorFromCode(code: ErrorCode, detail: string = ERRORS[code].title): ApiError {
  const row = ERRORS[code];
  return new ApiError(code, row.title, detail, row.nextStep, row.retry, undefined, []);
}

/** No answer at all: the connection, or our own timeout. The same call may be repeated; keyed calls keep their key. */
export function errorFromFetch(cause: unknown): ApiError {
  const timedOut = cause instanceof DOMException && cause.name === 'TimeoutError';
  return new ApiError('network', timedOut ? 'Slipway takes too long to answer' : 'Slipway cannot be reached', timedOut ? 'No answer came in time.' : 'The request did not get through.', 'Check the connection and try again; nothing is lost.', 'later', undefined, []);
}

export function nextStepOf(code: string): string {
  return isErrorCode(code) ? ERRORS[code].nextStep : '';
}

export function titleOf(code: string): string {
  return isErrorCode(code) ? ERRORS[code].title : 'Something went wrong';
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Whatever was thrown, as something that can be shown. */
export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : errorFromCode('internal.unexpected', error instanceof Error ? error.message : 'Something broke in this page.');
}

import { ERRORS, type ErrorCode, type Problem } from '@slipway/contracts/errors';

/** A failure with a code of the table. `detail` reaches the caller; `internal` and `cause` reach only the log. */
export class SlipwayError extends Error {
  override readonly name = 'SlipwayError';
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly more: {
      readonly internal?: string;
      readonly fields?: ReadonlyArray<{ path: string; message: string }>;
      readonly retryAfterSeconds?: number;
      readonly cause?: unknown;
      /** Further members of the problem document, for a program that reads it. */
      readonly extensions?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(more.internal ?? detail, { cause: more.cause });
  }
}

/**
 * The one answer for what is missing and for what the caller may not know of: always made fresh, always the same text.
 */
export function notFound(): SlipwayError {
  return new SlipwayError('resource.not-found', 'There is nothing at this address, or you may not see it.');
}

export interface ProblemResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
  /** The error as the log should have it: whole, with its cause. */
  readonly error: SlipwayError;
}

/**
 * Any thrown value as a problem document. What is not a SlipwayError becomes `internal.unexpected`, and its text stays
 * in the log.
 */
export function toProblem(thrown: unknown, context: { requestId?: string; docsUrl: string }): ProblemResponse {
  const error =
    thrown instanceof SlipwayError
      ? thrown
      : new SlipwayError('internal.unexpected', 'Quote the request id to support.', { cause: thrown });
  const { status, title, retry } = ERRORS[error.code];
  return {
    status,
    headers: error.more.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.more.retryAfterSeconds) },
    error,
    body: {
      type: `${context.docsUrl}/errors/${error.code}`,
      title,
      status,
      detail: error.detail,
      code: error.code,
      retry,
      ...(context.requestId === undefined ? {} : { requestId: context.requestId }),
      ...(error.more.fields === undefined ? {} : { fields: [...error.more.fields] }),
      ...error.more.extensions,
    },
  };
}

import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError, toProblem } from '@slipway/errors';

/** Why a request was not passed on: a label of the metrics and a word of the log. */
export type Reason =
  | 'host'
  | 'path'
  | 'method'
  | 'place'
  | 'reference'
  | 'foreign'
  | 'resting'
  | 'expired'
  | 'asked'
  | 'asked-too-often'
  | 'use-denied'
  | 'spent'
  | 'undecided'
  | 'push'
  | 'rule'
  | 'package-age'
  | 'unsupported'
  | 'rejected'
  | 'too-large'
  | 'address'
  | 'unresolved'
  | 'unreachable'
  | 'certificate'
  | 'stopping';

/** What a client is to wait before it tries again. Seconds. */
const RETRY_SECONDS: Partial<Record<ErrorCode, number>> = {
  'credential.undecided': 5,
  'credential.asked': 30,
  'credential.asked-too-often': 30,
};

export function refused(code: ErrorCode, reason: Reason, detail: string, cause?: unknown): SlipwayError {
  const retryAfterSeconds = RETRY_SECONDS[code];
  return new SlipwayError(code, detail, {
    extensions: { reason },
    cause,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

export const misplaced = (detail: string, reason: Reason = 'place'): SlipwayError =>
  refused('credential.misplaced', reason, detail);
export const unsupported = (detail: string): SlipwayError => refused('credential.unsupported', 'unsupported', detail);

/** The word for the metrics, of anything that was thrown. */
export function reasonOf(error: unknown): Reason | 'failed' {
  return error instanceof SlipwayError
    ? ((error.more.extensions?.['reason'] as Reason | undefined) ?? 'failed')
    : 'failed';
}

export interface Answer {
  readonly status: number;
  readonly phrase: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A thrown value as an answer.
 * @param plain for git, which shows the user a text and no JSON.
 */
export function answerOf(thrown: unknown, plain: boolean): Answer {
  const { status, body, headers, error } = toProblem(thrown, { docsUrl: '' });
  const { nextStep } = ERRORS[error.code];
  const text = plain ? `Slipway: ${error.detail} ${nextStep}\n` : JSON.stringify({ ...body, nextStep });
  return {
    status,
    phrase: /^(credential|egress)\./.test(error.code)
      ? `Slipway: ${error.detail}`.replaceAll(/[^ -~]/g, '?').slice(0, 300)
      : (STATUS_CODES[status] ?? 'Error'),
    headers: {
      ...headers,
      'content-type': plain ? 'text/plain; charset=utf-8' : 'application/problem+json',
      'content-length': String(Buffer.byteLength(text)),
      'cache-control': 'no-store',
    },
    body: text,
  };
}

import { STATUS_CODES } from 'node:http';
import { ERRORS } from '@slipway/contracts/errors';
import { SlipwayError, toProblem } from '@slipway/errors';

/** Why something did not pass; a label of the metrics and a word of the log. */
export type Reason =
  | 'credential'
  | 'limit'
  | 'host'
  | 'port'
  | 'address'
  | 'request'
  | 'server-name'
  | 'not-tls'
  | 'unresolved'
  | 'unreachable'
  | 'stopping'
  | 'rule'
  | 'asked'
  | 'asked-too-often'
  | 'undecided'
  | 'budget'
  | 'broker'
  | 'in-clear'
  | 'not-brokered';

export function refused(reason: Reason, detail: string): SlipwayError {
  return new SlipwayError('egress.refused', detail, { extensions: { reason } });
}

export function unreachable(reason: Reason, detail: string, cause?: unknown): SlipwayError {
  return new SlipwayError('egress.unreachable', detail, { extensions: { reason }, cause });
}

/** The word for the metrics, of anything that was thrown. */
export function reasonOf(error: unknown): Reason | 'failed' {
  return error instanceof SlipwayError
    ? ((error.more.extensions?.['reason'] as Reason | undefined) ?? 'failed')
    : 'failed';
}

export interface Answer {
  readonly status: number;
  /** What programs print that show nothing of the body, as most do for a CONNECT. Printable ASCII. */
  readonly phrase: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A thrown value as an answer: `application/problem+json`, after which the connection ends.
 * @param asProxy `false` where the caller takes this for the host itself: 407 is no answer of one, and at 401 git would
 * ask a user for a password.
 */
export function answerOf(thrown: unknown, asProxy = true): Answer {
  const { status: ofCode, body, headers, error } = toProblem(thrown, { docsUrl: '' });
  const status = ofCode === 407 && !asProxy ? 403 : ofCode;
  const text = JSON.stringify({ ...body, status, nextStep: ERRORS[error.code].nextStep });
  return {
    status,
    phrase: error.code.startsWith('egress.')
      ? `Slipway egress: ${error.detail}`.replaceAll(/[^ -~]/g, '?').slice(0, 300)
      : (STATUS_CODES[status] ?? 'Error'),
    headers: {
      ...headers,
      ...(status === 407 ? { 'proxy-authenticate': 'Basic realm="slipway-egress"' } : {}),
      'content-type': 'application/problem+json',
      'content-length': String(Buffer.byteLength(text)),
      'cache-control': 'no-store',
      connection: 'close',
    },
    body: text,
  };
}

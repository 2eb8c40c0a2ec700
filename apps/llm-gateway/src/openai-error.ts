import type { ServerResponse } from 'node:http';
import { ERRORS } from '@slipway/contracts';
import { SlipwayError } from '@slipway/errors';

/** OpenAI's words for kinds of failure; its clients choose what they throw by them. */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 402) return 'insufficient_quota';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 504) return 'timeout_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

export interface OpenAiError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: { readonly message: string; readonly type: string; readonly code: string; readonly param: null } };
}

/** Any thrown value in OpenAI's form, with our code in `code`. What is not a SlipwayError keeps its text for the log. */
export function toOpenAiError(thrown: unknown): OpenAiError & { readonly error: SlipwayError } {
  const error =
    thrown instanceof SlipwayError
      ? thrown
      : new SlipwayError('internal.unexpected', 'Something broke in the gateway; quote the request id.', { cause: thrown });
  const { status } = ERRORS[error.code];
  const { retryAfterSeconds } = error.more;
  return {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    body: { error: { message: error.detail, type: typeOf(status), code: error.code, param: null } },
    error,
  };
}

/** Answers with the error. Nothing may have been sent before. */
export function sendOpenAiError(response: ServerResponse, thrown: unknown): OpenAiError & { readonly error: SlipwayError } {
  const answer = toOpenAiError(thrown);
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...answer.headers });
  response.end(body);
  return answer;
}

/** The error as the last frame of an event stream that began well. */
export function errorFrame(error: SlipwayError): string {
  return `\n\ndata: ${JSON.stringify(toOpenAiError(error).body)}\n\n`;
}

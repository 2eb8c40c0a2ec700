import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';
import type { Usage } from '../calls/usage.js';
import type { Dialect } from './dialect.js';
import type { JsonObject } from './json.js';
import { chatUsage, messagesUsage, responsesUsage } from './usage.js';

/** OpenAI's words for kinds of failure; its clients choose what they throw by the status and say these. */
function openAiType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 402) return 'insufficient_quota';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 504) return 'timeout_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function anthropicType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 402) return 'billing_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 413) return 'request_too_large';
  if (status === 429) return 'rate_limit_error';
  if (status === 503) return 'overloaded_error';
  if (status === 504) return 'timeout_error';
  return status >= 500 ? 'api_error' : 'invalid_request_error';
}

/**
 * What clients of Responses (Codex) read in a response that failed: whether to try again, and whether to make the
 * conversation shorter.
 */
function responsesCode(code: ErrorCode): string {
  if (code === 'budget.exhausted' || code === 'agent.budget-limit' || code === 'model.quota')
    return 'insufficient_quota';
  if (code === 'model.context-exceeded') return 'context_length_exceeded';
  const { status } = ERRORS[code];
  if (status === 429) return 'rate_limit_exceeded';
  return status >= 500 ? 'server_error' : 'invalid_prompt';
}

export interface DialectError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** As the log should have it: whole, with its cause. */
  readonly error: SlipwayError;
}

/**
 * Any thrown value as an error of the caller's dialect, with our code in `error.code`. What is not a SlipwayError keeps
 * its text for the log.
 */
export function errorOf(dialect: Dialect, thrown: unknown): DialectError {
  const error =
    thrown instanceof SlipwayError
      ? thrown
      : new SlipwayError('internal.unexpected', 'Something broke in the gateway; quote the request id.', {
          cause: thrown,
        });
  const { status } = ERRORS[error.code];
  const { retryAfterSeconds } = error.more;
  const { detail: message, code } = error;
  return {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) },
    body:
      dialect === 'messages'
        ? { type: 'error', error: { type: anthropicType(status), message, code } }
        : { error: { message, type: openAiType(status), code, param: null } },
    error,
  };
}

/** How far a stream has come that must be broken off. */
export interface BrokenAt {
  /** Frames that the caller has got. */
  readonly frames: number;
  /** What the call came to, as the last that the caller hears of it. */
  readonly usage: Usage | null;
}

/**
 * The error as the last frames of a stream that began well, after the counts where they are known. Begins with an empty
 * line: the frame before it may have been cut.
 */
export function errorFrame(dialect: Dialect, thrown: unknown, at: BrokenAt = { frames: 0, usage: null }): string {
  const { body, error } = errorOf(dialect, thrown);
  if (dialect === 'messages') {
    const delta = { stop_reason: null, stop_sequence: null };
    const counted = at.usage === null ? '' : named({ type: 'message_delta', delta, usage: messagesUsage(at.usage) });
    return `\n\n${counted}${named(body)}`;
  }
  if (dialect === 'responses') {
    const response = {
      object: 'response',
      status: 'failed',
      error: { code: responsesCode(error.code), message: error.detail, slipway_code: error.code },
      output: [],
      usage: at.usage === null ? null : responsesUsage(at.usage),
    };
    const failed = named({ type: 'response.failed', sequence_number: at.frames, response });
    // Its clients throw at an event `error` that holds an error, and only then.
    return `\n\n${failed}${named({ type: 'error', sequence_number: at.frames + 1, code: error.code, message: error.detail, param: null, ...body })}`;
  }
  const chunk = { object: 'chat.completion.chunk', choices: [] };
  const counted = at.usage === null ? '' : `data: ${JSON.stringify({ ...chunk, usage: chatUsage(at.usage) })}\n\n`;
  return `\n\n${counted}data: ${JSON.stringify(body)}\n\n`;
}

function named(value: JsonObject): string {
  return `event: ${String(value['type'])}\ndata: ${JSON.stringify(value)}\n\n`;
}

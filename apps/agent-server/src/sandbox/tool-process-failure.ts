import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';
import { problemCode } from '../http/outgoing.js';

/** The tool process' own words, when they are a problem document. */
export function refusedByTool(status: number, body: unknown): SlipwayError {
  const detail = (body as { detail?: unknown } | null)?.detail;
  const code = problemCode(body);
  return new SlipwayError(
    code !== null && isErrorCode(code) ? code : 'sandbox.tool-unavailable',
    typeof detail === 'string' ? detail : `The tool process answered with status ${status}.`,
  );
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** The tool process did not answer before anything was asked of it. */
export class NotThere extends Error {
  override readonly name = 'NotThere';
}

export function notThere(cause: unknown): SlipwayError {
  return new SlipwayError('sandbox.tool-unavailable', 'The tool process of the sandbox does not answer.', {
    cause,
    retryAfterSeconds: 1,
  });
}

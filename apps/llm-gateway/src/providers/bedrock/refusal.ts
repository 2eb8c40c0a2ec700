import { parseObject, textOf } from '../../wire/json.js';
import type { PlainRefusal, Refusal } from '../refusal.js';

/**
 * Statuses of Bedrock's exceptions as an OpenAI-compatible server would have them: a model that failed is no fault of
 * the request.
 */
const STATUSES: Readonly<Record<string, number>> = {
  throttlingexception: 429,
  toomanyrequestsexception: 429,
  servicequotaexceededexception: 429,
  modelnotreadyexception: 503,
  modelerrorexception: 502,
  modelstreamerrorexception: 502,
  modeltimeoutexception: 504,
  internalserverexception: 500,
  serviceunavailableexception: 503,
  accessdeniedexception: 403,
  expiredtokenexception: 403,
  unrecognizedclientexception: 403,
  invalidsignatureexception: 403,
  resourcenotfoundexception: 404,
  validationexception: 400,
};

/** 0 for one that is not known. Inside of a stream its name begins with a small letter. */
export function statusOfException(name: string): number {
  return STATUSES[name.toLowerCase()] ?? 0;
}

/** The exception's name stands in a header, its words in the body. */
export function bedrockRefusal({ status, headers, body }: Refusal): PlainRefusal {
  const value = parseObject(body);
  const message = textOf(value?.['message']) ?? textOf(value?.['Message']) ?? '';
  const name =
    /^[A-Za-z]*/.exec(headers['x-amzn-errortype'] ?? textOf(value?.['__type'])?.replace(/^.*#/, '') ?? '')?.[0] ?? '';
  const code = name === 'ValidationException' ? codeOf(message) : null;
  return {
    status: code === 'model_not_found' ? 404 : statusOfException(name) || status,
    error: { message, code, type: name },
  };
}

/** Bedrock calls everything that is wrong with a request by one name. */
function codeOf(message: string): string | null {
  if (
    /input is too long|prompt is too long|exceeds? the (maximum|model).*(context|token)|too many (input )?tokens/i.test(
      message,
    )
  )
    return 'context_length_exceeded';
  if (/model identifier is invalid|model.*(not found|isn't supported|end of its life)/i.test(message))
    return 'model_not_found';
  return null;
}

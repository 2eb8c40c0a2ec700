import { SlipwayError } from '@slipway/errors';
import { modelErrorOf } from '@slipway/llm';
import { providerOf } from '../providers/providers.js';
import type { Refusal } from '../providers/refusal.js';
import type { Target } from '../wire/exchange.js';

/** Patterns of keys in a provider's own words. */
const KEY_LIKE = /\b(sk|pk|key|gsk|xai|AIza|slp)[-_][A-Za-z0-9_*.-]{6,}/g;

/** A provider's refusal in our codes. Its own words go with it, without anything that is or resembles a key. */
export function refusalOf({ provider, apiKey }: Pick<Target, 'provider' | 'apiKey'>, refusal: Refusal): SlipwayError {
  const plain = providerOf(provider).refusal?.(refusal) ?? null;
  const status = plain?.status ?? refusal.status;
  const retryAfter = plain?.retryAfter ?? refusal.headers['retry-after'];
  if (status >= 300 && status < 400)
    return new SlipwayError(
      'model.bad-response',
      `The model's address answers with a redirect (${status}); correct LLM_BASE_URL.`,
    );
  if (status === 413) return new SlipwayError('request.too-large', 'The model takes no request of this size.');
  const known = modelErrorOf(
    status,
    plain?.error ?? errorObjectOf(refusal.body),
    typeof retryAfter === 'string' ? retryAfter : null,
  );
  const detail =
    known.code === 'model.auth'
      ? 'The model refused the key that the gateway is set up with.'
      : withoutKeys(known.detail, apiKey);
  return new SlipwayError(
    known.code,
    detail,
    known.more.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: Math.ceil(known.more.retryAfterSeconds) },
  );
}

/** What broke on the way to the provider or back, in our codes. The address and the library's text stay in the log. */
export function brokenOf(error: Error, answered: boolean): SlipwayError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const more = { cause: error, internal: `${code} ${error.message}` };
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new SlipwayError(
      'model.timeout',
      answered ? 'The model fell silent in the middle of its answer.' : 'The model did not begin to answer in time.',
      more,
    );
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new SlipwayError('model.timeout', 'The model could not be reached in time.', more);
  if (
    code.startsWith('HPE_') ||
    code === 'UND_ERR_RESPONSE_STATUS_CODE' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  ) {
    return new SlipwayError('model.bad-response', 'The model answered something that is not HTTP.', more);
  }
  if (/CERT|TLS|SSL|SELF_SIGNED/.test(code))
    return new SlipwayError(
      'model.unavailable',
      `The certificate of the model's address is not trusted (${code}).`,
      more,
    );
  return new SlipwayError(
    'model.unavailable',
    answered ? 'The connection to the model broke in the middle of its answer.' : 'The model cannot be reached.',
    more,
  );
}

/** An error that a provider put where a chunk should be. */
export function inStreamErrorOf(
  error: { message?: unknown; code?: unknown; type?: unknown },
  apiKey: string | null,
): SlipwayError {
  const known = modelErrorOf(typeof error.code === 'number' ? error.code : 0, error);
  return new SlipwayError(known.code, withoutKeys(known.detail, apiKey));
}

function withoutKeys(text: string, apiKey: string | null): string {
  return (apiKey === null || apiKey === '' ? text : text.replaceAll(apiKey, '[key]')).replace(KEY_LIKE, '[key]');
}

/** The error of a body in the forms of OpenAI, vLLM, FastAPI and plain text. */
function errorObjectOf(body: string): { message?: unknown; code?: unknown; type?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return /^\s*</.test(body) ? {} : { message: body.trim() };
  }
  if (typeof value !== 'object' || value === null) return {};
  const { error, message, detail, code, type } = value as Record<string, unknown>;
  if (typeof error === 'object' && error !== null) return error;
  return { message: typeof error === 'string' ? error : (message ?? detail), code, type };
}

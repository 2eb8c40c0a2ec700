import { type JsonObject, listOf, objectOf, parseObject, textOf } from '../../wire/json.js';
import type { PlainRefusal, Refusal } from '../refusal.js';

/** Google puts the key's refusal under 400, and how long to wait into the details instead of a header. */
export function geminiRefusal({ status, body }: Refusal): PlainRefusal {
  // A stream that is refused may have it in a list.
  const error = objectOf(parseObject(body.trim().replace(/^\[|\]$/g, ''))?.['error']);
  if (error === null) return { status, error: { message: body.trimStart().startsWith('<') ? undefined : body } };
  const details = listOf(error['details']).map(objectOf);
  const message = textOf(error['message']) ?? '';
  const seconds = Number.parseFloat(textOf(detail(details, 'RetryInfo')?.['retryDelay']) ?? '');
  const reason = detail(details, 'ErrorInfo')?.['reason'];
  return {
    status: reason === 'API_KEY_INVALID' ? 401 : status,
    error: { message, code: codeOf(message), type: error['status'] },
    ...(Number.isFinite(seconds) ? { retryAfter: String(Math.ceil(seconds)) } : {}),
  };
}

function detail(details: ReadonlyArray<JsonObject | null>, type: string): JsonObject | undefined {
  return details.find((entry) => textOf(entry?.['@type'])?.endsWith(`.${type}`)) ?? undefined;
}

function codeOf(message: string): string | null {
  return /exceeds the maximum number of tokens|input token count/i.test(message) ? 'context_length_exceeded' : null;
}

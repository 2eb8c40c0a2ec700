import type { ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';

/** Longest part of a provider's own text that is shown. UTF-16 code units. */
const MAX_REASON = 500;

/** What a provider's failure means to us. `status` is 0 when it came inside a stream that had begun with 200. */
export function modelErrorOf(
  status: number,
  error: { message?: unknown; code?: unknown; type?: unknown },
  retryAfter?: string | null,
): SlipwayError {
  const reason = typeof error.message === 'string' ? error.message.slice(0, MAX_REASON) : '';
  const marks = `${String(error.code ?? '')} ${String(error.type ?? '')}`.toLowerCase();
  const code = codeOf(status, marks, reason.toLowerCase());
  const seconds = retryAfterSeconds(retryAfter);
  return new SlipwayError(
    code,
    reason === ''
      ? (SENTENCES[code] ?? `The model answered with status ${status}.`)
      : OURS.has(code)
        ? reason
        : quoted(reason),
    seconds === undefined ? {} : { retryAfterSeconds: seconds },
  );
}

/** Of our own gateway, in its own sentences: no failures of the model. */
const OURS: ReadonlySet<ErrorCode> = new Set([
  'agent.budget-limit',
  'budget.exhausted',
  'budget.unpriced',
  'model.not-offered',
  'model.media-by-url',
]);

/** The provider's own words, named as such once: the gateway's answer has been through here already. */
function quoted(reason: string): string {
  const opening = 'The model answered: ';
  return reason.startsWith(opening) ? reason : `${opening}${reason}`;
}

const SENTENCES: Partial<Record<ErrorCode, string>> = {
  'model.auth': 'The model refused the key.',
  'model.quota': 'The model says that the credit is used up.',
  'budget.exhausted': 'The budget is used up.',
  'agent.budget-limit': 'The conversation used its own budget.',
  'model.rate-limited': 'The model limits the rate of requests.',
  'model.unknown': 'The model does not exist at this address.',
  'model.context-exceeded': 'The conversation is longer than the model can read.',
  'model.content-policy': 'The provider of the model refuses this content.',
};

/** Of a conversation that is too long, in the words of OpenAI, vLLM and Anthropic. */
const LONG = /maximum context|context length|too many tokens|prompt is too long/;

function codeOf(status: number, marks: string, reason: string): ErrorCode {
  // Bedrock says "too many tokens" of a rate as well.
  if (/context_length|context_window|model\.context-exceeded/.test(marks) || (status !== 429 && LONG.test(reason)))
    return 'model.context-exceeded';
  if (/content_policy|content_filter|model\.content-policy/.test(marks) || /violat\w* our usage polic/.test(reason))
    return 'model.content-policy';
  if (/bad_response|model\.bad-response/.test(marks)) return 'model.bad-response';
  if (/budget\.exhausted/.test(marks)) return 'budget.exhausted';
  if (/agent\.budget-limit/.test(marks)) return 'agent.budget-limit';
  if (/budget\.unpriced/.test(marks)) return 'budget.unpriced';
  if (/model\.not-offered/.test(marks)) return 'model.not-offered';
  if (/model\.media-by-url/.test(marks)) return 'model.media-by-url';
  if (status === 402 || /insufficient_quota|budget|credit|model\.quota/.test(marks)) return 'model.quota';
  if (status === 401 || status === 403 || /invalid_api_key|authentication|model\.auth\b|auth\.missing/.test(marks))
    return 'model.auth';
  if (status === 404 || /model_not_found|model\.unknown/.test(marks)) return 'model.unknown';
  if (status === 429 || /rate_limit|rate\.limited|model\.rate-limited/.test(marks)) return 'model.rate-limited';
  if (status === 408 || status === 504 || /timeout/.test(marks)) return 'model.timeout';
  if (status >= 500 || status === 0) return 'model.unavailable';
  // The request itself was refused: the same one would be refused again.
  return 'request.invalid';
}

/** Seconds of a `Retry-After`, as a number or a date; `undefined` when absent or unreadable. */
export function retryAfterSeconds(value: string | null | undefined, now = Date.now()): number | undefined {
  if (value === null || value === undefined || value.trim() === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** What came of a call that did not succeed; a caller decides by this, not by a status. */
export type RefusalKind =
  /** The credential is not, or no longer, worth anything: the connection needs attention. */
  | 'credential'
  | 'forbidden'
  | 'missing'
  /** What is there stands against it: it exists already, cannot be merged, has moved on. */
  | 'conflict'
  | 'invalid'
  /** Too many calls. Not before `retryAt`. */
  | 'limited'
  /** The provider is away, slow or broken. */
  | 'unavailable'
  /** An answer that is too long, or none that this call has. */
  | 'unreadable';

export interface RefusalDetails {
  readonly kind: RefusalKind;
  /** `null`: there was no answer. */
  readonly status: number | null;
  /** Earliest moment to try again, where the provider says one or a limit has its usual one. */
  readonly retryAt: Date | null;
  /** The call may have had its effect: check before repeating. */
  readonly outcomeUnknown: boolean;
}

/**
 * A call that a provider did not answer as hoped. Its message is for logs and holds at most the first words of the
 * answer.
 */
export class ProviderRefusal extends Error implements RefusalDetails {
  override readonly name = 'ProviderRefusal';
  readonly kind: RefusalKind;
  readonly status: number | null;
  readonly retryAt: Date | null;
  readonly outcomeUnknown: boolean;

  constructor(message: string, { kind, status, retryAt, outcomeUnknown }: RefusalDetails, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.status = status;
    this.retryAt = retryAt;
    this.outcomeUnknown = outcomeUnknown;
  }
}

/** A name that no repository of the provider can have: treated as missing, without a request. */
export function noRepository(): ProviderRefusal {
  return new ProviderRefusal('not the name of a repository', {
    kind: 'missing',
    status: null,
    retryAt: null,
    outcomeUnknown: false,
  });
}

/** Without a word of the provider on when: GitHub asks for a minute at least. Milliseconds. */
const LIMIT_WAIT_MS = 60_000;
/** Longer than any limit lasts; what says more is taken for this. Milliseconds. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;
const LIMIT_WORDS = /rate limit|abuse detection|too many requests/i;

/** What an answer that is not 2xx means. @param text its first characters. */
export function refusalOf(
  response: { readonly status: number; readonly headers: Headers },
  text: string,
  writes: boolean,
  now: Date,
): RefusalDetails {
  const { status, headers } = response;
  const spent = headers.get('x-ratelimit-remaining') === '0' || headers.get('ratelimit-remaining') === '0';
  const asked = headers.has('retry-after');
  // GitHub answers 403 for its limits as well as 429.
  const limited = status === 429 || (status === 403 && (spent || asked || LIMIT_WORDS.test(text)));
  const wait = waitOf(headers, spent, now);
  if (limited)
    return { kind: 'limited', status, retryAt: wait ?? new Date(now.getTime() + LIMIT_WAIT_MS), outcomeUnknown: false };
  // A proxy that lost the server does not know what became of the call.
  if (status >= 500 || status === 408) return { kind: 'unavailable', status, retryAt: wait, outcomeUnknown: writes };
  return { kind: kindOf(status), status, retryAt: null, outcomeUnknown: false };
}

function kindOf(status: number): RefusalKind {
  if (status === 401) return 'credential';
  if (status === 403) return 'forbidden';
  if (status === 404 || status === 410) return 'missing';
  if (status === 405 || status === 409 || status === 412 || status === 423) return 'conflict';
  return status >= 400 && status < 500 ? 'invalid' : 'unreadable';
}

/** From `Retry-After` (seconds or a date), else the end of a spent window (seconds since 1970). */
function waitOf(headers: Headers, spent: boolean, now: Date): Date | null {
  const after = headers.get('retry-after');
  const reset = spent ? (headers.get('x-ratelimit-reset') ?? headers.get('ratelimit-reset')) : null;
  const at =
    after !== null && /^\d{1,9}$/.test(after)
      ? now.getTime() + Number(after) * 1000
      : after !== null
        ? Date.parse(after)
        : reset !== null && /^\d{1,12}$/.test(reset)
          ? Number(reset) * 1000
          : Number.NaN;
  if (Number.isNaN(at)) return null;
  return new Date(Math.min(Math.max(at, now.getTime()), now.getTime() + MAX_WAIT_MS));
}

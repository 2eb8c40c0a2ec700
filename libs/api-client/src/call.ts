import type { ErrorCode, Problem } from '@slipway/contracts/errors';

/**
 * A failure that the server described. `code` is one of `ERRORS`; treat one that you do not know as
 * `internal.unexpected`.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly problem: Problem,
    options?: ErrorOptions,
  ) {
    super(problem.detail, options);
  }

  get code(): ErrorCode | (string & {}) {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** What every operation takes beside its own fields. */
export interface CallOptions {
  /** Ends the call; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Of a keyed operation: give the same key again to repeat a request whose answer was lost. Absent: a new one from
   * `newKey`.
   */
  readonly idempotencyKey?: string;
  /**
   * Of a versioned operation that changes something: the version that was read. The change is refused when there is a
   * newer one.
   */
  readonly ifMatch?: number;
  /** Preferences of RFC 7240, such as `delivery=after-turn`. A server that does not know one ignores it. */
  readonly prefer?: string;
}

export interface ApiClientOptions {
  /** Before `/api/v1/…`; empty for the page's own origin. */
  readonly baseUrl?: string;
  /** Makes an Idempotency-Key: at most 255 characters, never twice the same. */
  readonly newKey: () => string;
  /** Credential of the caller, instead of the browser's session. Secret. */
  readonly apiKey?: string;
  /** Further headers of each request, such as `traceparent`. */
  readonly headers?: () => Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** Longest wait for an answer to begin; a download may then take as long as it takes. Milliseconds. */
  readonly timeoutMs?: number;
}

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly body?: unknown;
  readonly keyed: boolean;
  readonly answer: 'json' | 'none' | 'stream';
  /** Fields that an older server does not send, with what it means by that; `*` is each entry of a list. */
  readonly absent?: ReadonlyArray<readonly [at: readonly string[], value: unknown]>;
  readonly options: CallOptions;
}
export type Caller = (call: Call) => Promise<unknown>;

/** The URL of an operation: path parameters and query values encoded, absent values left out. */
export function urlOf(
  baseUrl: string,
  path: string,
  parameters: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>> | undefined,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)] as [string, string]],
  );
  return `${baseUrl}${filled}${pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`}`;
}

/**
 * Sends one request, once. @throws ApiError for every answer that is not a success, and for none at all
 * (`service.unavailable`).
 */
export function createCaller(options: ApiClientOptions): Caller {
  const { fetch: send = (...args) => globalThis.fetch(...args), timeoutMs = 30_000 } = options;
  return async ({ method, url, body, keyed, answer, absent = [], options: wanted }) => {
    const { signal, idempotencyKey, ifMatch, prefer } = wanted;
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new ApiError(unreachable(`No answer within ${timeoutMs / 1000} s.`))),
      timeoutMs,
    );
    try {
      const response = await send(url, {
        method,
        // With a key no cookie is sent: one credential per request.
        credentials: options.apiKey === undefined ? 'same-origin' : 'omit',
        headers: {
          accept: answer === 'stream' ? '*/*' : 'application/json, application/problem+json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(keyed ? { 'idempotency-key': idempotencyKey ?? options.newKey() } : {}),
          ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
          ...(prefer === undefined ? {} : { prefer }),
          ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
          ...options.headers?.(),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
      });
      if (!response.ok) throw new ApiError(await problemOf(response));
      if (answer === 'stream') return response;
      return answer === 'none' ? undefined : withAbsent(await response.json(), absent);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError) throw error;
      throw new ApiError(unreachable('The server cannot be reached.'), { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** While an upgrade goes on, a page of the new version has its answers from app-servers of the old one, too. */
function withAbsent(answer: unknown, absent: NonNullable<Call['absent']>): unknown {
  for (const [at, value] of absent) fill(answer, at, value);
  return answer;
}

function fill(place: unknown, [name, ...rest]: readonly string[], value: unknown): void {
  if (typeof place !== 'object' || place === null || name === undefined) return;
  if (name === '*') for (const entry of Array.isArray(place) ? place : []) fill(entry, rest, value);
  else if (rest.length > 0) fill((place as Record<string, unknown>)[name], rest, value);
  else if (!(name in place)) (place as Record<string, unknown>)[name] = structuredClone(value);
}

function unreachable(detail: string): Problem {
  return { type: 'about:blank', title: 'No answer', status: 503, detail, code: 'service.unavailable', retry: 'later' };
}

/** A proxy in between may answer with a page of its own: then the status is all that is known. */
async function problemOf(response: Response): Promise<Problem> {
  const given: unknown = await response.json().catch(() => undefined);
  if (typeof given === 'object' && given !== null && 'code' in given && 'detail' in given) return given as Problem;
  const code =
    response.status === 401 ? 'auth.missing' : response.status >= 500 ? 'service.unavailable' : 'request.invalid';
  return {
    type: 'about:blank',
    title: response.statusText,
    status: response.status,
    detail: `The server answered ${response.status}.`,
    code,
    retry: response.status >= 500 ? 'later' : 'never',
  };
}

import type { Readable } from 'node:stream';
import { AGENT_ROUTES, type AgentRoute, type AgentRouteName, CALLER_KEY_HEADER } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import { Agent, type Dispatcher, request } from 'undici';
import { AgentError } from './agent-error.js';
import { type AnswerBound, bytesWithin, discard, streamWithin } from './answers.js';
import { type CallAnswer, type CallArguments, type CallOptions, outgoingOf } from './calls.js';
import { parseOrUndefined, refusalOf } from './refusals.js';

const CONNECT_TIMEOUT_MS = 2_000;
/** Largest refusal that is read. Bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/**
 * Goes past any forward proxy of this process: a sandbox has an address of the cluster, which no list of exceptions can
 * name. No connection is kept: one that died with a previous process of the sandbox would fail a stop. Time limits are
 * each call's own.
 */
const dispatcher = new Agent({
  connect: { timeout: CONNECT_TIMEOUT_MS },
  headersTimeout: 0,
  bodyTimeout: 0,
  pipelining: 0,
});
const UNBOUNDED: AnswerBound['slot'] = { take: () => true };

export interface AgentAddress {
  readonly url: string;
  readonly sessionKey: string;
  /** Authenticates the app as caller; absent where the session key suffices. */
  readonly appKey?: string;
}

/** For calls that name no other. */
export interface CallDefaults {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Calls agent-server of one sandbox by the entries of `AGENT_ROUTES`. No answer is trusted with memory or time: each
 * has a bound and a deadline.
 *
 * Every method throws `AgentError`: a refusal that the entry lists, or `sandbox.unreachable`. It throws
 * `file.too-large` for an answer beyond its bound, `service.unavailable` when there is no memory for it, and the reason
 * of the caller's signal.
 */
export class AgentClient {
  constructor(
    private readonly address: AgentAddress,
    private readonly defaults: CallDefaults,
  ) {}

  /** The answer as its schema reads it. */
  async call<Name extends AgentRouteName>(
    name: Name,
    given: CallArguments<Name>,
    options: CallOptions = {},
  ): Promise<CallAnswer<Name>> {
    const { answer }: AgentRoute = AGENT_ROUTES[name];
    const text = await this.text(name, given, options);
    if (answer === undefined) return undefined as CallAnswer<Name>;
    const parsed = answer.safeParse(parseOrUndefined(text));
    if (parsed.success) return parsed.data as CallAnswer<Name>;
    throw unreadable(`${name}: ${parsed.error.message}`);
  }

  /** The answer, not parsed. */
  async text<Name extends AgentRouteName>(
    name: Name,
    given: CallArguments<Name>,
    options: CallOptions = {},
  ): Promise<string> {
    return (await this.bytes(name, given, options)).toString('utf8');
  }

  async bytes<Name extends AgentRouteName>(
    name: Name,
    given: CallArguments<Name>,
    options: CallOptions = {},
  ): Promise<Buffer> {
    const {
      timeoutMs = this.defaults.timeoutMs,
      maxBytes = this.defaults.maxBytes,
      slot = UNBOUNDED,
      signal,
    } = options;
    const limit = AbortSignal.timeout(timeoutMs);
    return withinLimit(name, { limit, timeoutMs, signal }, async (end) =>
      bytesWithin(await this.answerOf(name, given, slot, { signal: end }), { maxBytes, slot }),
    );
  }

  /** Sends bytes as the body. `file` is destroyed when the call fails. */
  async upload(
    name: 'uploadFile',
    given: CallArguments<'uploadFile'>,
    file: Readable,
    { timeoutMs = this.defaults.timeoutMs, signal }: Pick<CallOptions, 'timeoutMs' | 'signal'> = {},
  ): Promise<void> {
    const limit = AbortSignal.timeout(timeoutMs);
    await withinLimit(name, { limit, timeoutMs, signal }, async (end) =>
      bytesWithin(await this.answerOf(name, given, UNBOUNDED, { signal: end, file }), {
        maxBytes: this.defaults.maxBytes,
        slot: UNBOUNDED,
      }),
    ).finally(() => file.destroy());
  }

  /** The answer as it comes. `headTimeoutMs` is for its first byte, `timeoutMs` for its last; then it breaks off. */
  async stream<Name extends AgentRouteName>(
    name: Name,
    given: CallArguments<Name>,
    { maxBytes, timeoutMs, headTimeoutMs }: { maxBytes: number; timeoutMs: number; headTimeoutMs: number },
  ): Promise<Readable> {
    const late = new AbortController();
    const head = setTimeout(() => late.abort(), headTimeoutMs);
    try {
      return await withinLimit(name, { limit: late.signal, timeoutMs: headTimeoutMs, signal: undefined }, async (end) =>
        streamWithin(
          await this.answerOf(name, given, UNBOUNDED, {
            signal: AbortSignal.any([end, AbortSignal.timeout(timeoutMs)]),
          }),
          maxBytes,
        ),
      );
    } finally {
      clearTimeout(head);
    }
  }

  /** The body of a success; its end is bound by the signal too. */
  private async answerOf<Name extends AgentRouteName>(
    name: Name,
    given: CallArguments<Name>,
    slot: AnswerBound['slot'],
    { signal, file }: { readonly signal: AbortSignal; readonly file?: Readable },
  ): Promise<Dispatcher.ResponseData['body']> {
    const route: AgentRoute = AGENT_ROUTES[name];
    const { path, headers, body } = outgoingOf(route.path, given);
    const { url, sessionKey, appKey } = this.address;
    const response = await request(`${url.replace(/\/+$/, '')}${path}`, {
      dispatcher,
      method: route.method,
      signal,
      headers: {
        ...(route.access === 'open'
          ? {}
          : { 'x-session-api-key': sessionKey, ...(appKey === undefined ? {} : { [CALLER_KEY_HEADER]: appKey }) }),
        'accept-encoding': 'identity',
        ...traceHeaders(),
        ...(file !== undefined ? { 'content-type': 'application/octet-stream' } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...route.headers,
        ...headers,
      },
      body: file ?? (body === undefined ? null : JSON.stringify(body)),
    });
    const { statusCode: status } = response;
    if (status >= 200 && status <= 299) {
      assertPlain(response);
      return response.body;
    }
    const refusal = await bytesWithin(response.body, { maxBytes: MAX_REFUSAL_BYTES, slot }).then(String, () => '');
    discard(response.body);
    throw refusalOf(`${route.method} ${path.split('?')[0]}`, route.refusals, status, refusal);
  }
}

/** Runs a call under its time limit. What is thrown of the transport becomes `sandbox.unreachable`. */
async function withinLimit<T>(
  name: string,
  { limit, timeoutMs, signal }: { limit: AbortSignal; timeoutMs: number; signal: AbortSignal | undefined },
  call: (end: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await call(signal === undefined ? limit : AbortSignal.any([signal, limit]));
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    if (cause instanceof SlipwayError) throw cause;
    const kind = kindOf(cause, limit.aborted);
    const detail = limit.aborted
      ? `The sandbox did not answer within ${Math.ceil(timeoutMs / 1_000)} s.`
      : 'The sandbox does not answer.';
    throw new AgentError(
      'sandbox.unreachable',
      detail,
      { kind },
      { cause, internal: `${name}: ${(cause as Error).message}` },
    );
  }
}

function kindOf(error: unknown, timedOut: boolean): 'unreachable' | 'timeout' | 'broken' {
  if (timedOut) return 'timeout';
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'ECONNREFUSED') return 'unreachable';
  return code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : 'broken';
}

/** Nothing asked for compression: what it would unpack to is not known before. */
function assertPlain({ headers, body }: Dispatcher.ResponseData): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  discard(body);
  throw unreadable(`content-encoding ${String(encoding).slice(0, 50)}`);
}

function unreadable(internal: string): AgentError {
  return new AgentError(
    'sandbox.unreachable',
    'The sandbox gave an answer that cannot be read.',
    { kind: 'broken' },
    { internal },
  );
}

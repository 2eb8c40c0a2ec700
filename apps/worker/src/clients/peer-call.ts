import { ERROR_CODES, type ErrorCode, Problem } from '@slipway/contracts/errors';
import { type ReadSlot, readWithin } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { traceHeaders } from '@slipway/telemetry';
import { Agent, request } from 'undici';
import type { z } from 'zod';

/** Connections to peers are kept. Undici’s own limits are off: every call brings its own. */
const dispatcher = new Agent({
  connect: { timeout: 2_000 },
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 30_000,
  connections: 256,
});
/** Largest answer of a service of ours. Bytes. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export interface PeerCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Milliseconds, from the first byte out to the last byte in. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Error text for the log and for users when it does not answer. */
  readonly peer: string;
  /** The code for no answer at all. */
  readonly unreachable: ErrorCode;
}

/**
 * One JSON call. Fails closed: an answer that is not what `schema` says is an error.
 *
 * @throws SlipwayError with the peer's own code and detail when it answers a problem of ours; with `unreachable` when
 * it does not answer.
 *   The signal's reason when the signal ended it.
 */
export async function callJson<T extends z.ZodType>(call: PeerCall, schema: T): Promise<z.output<T>> {
  const text = await callText(call);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SlipwayError(call.unreachable, `${call.peer} answered something that is not JSON.`, { cause: error });
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success)
    throw new SlipwayError('internal.unexpected', `${call.peer} answered in an unknown form.`, {
      cause: parsed.error,
      internal: `${call.method} ${call.url}: ${parsed.error.message}`,
    });
  return parsed.data;
}

/** As `callJson`, for an answer that is plain text or of no interest. */
export async function callText(call: PeerCall): Promise<string> {
  const { status, bytes } = await answerOf(call);
  const text = bytes.toString('utf8');
  if (status >= 200 && status < 300) return text;
  throw problemOf(call, status, text);
}

async function answerOf(call: PeerCall): Promise<{ status: number; bytes: Buffer }> {
  call.signal.throwIfAborted();
  const limit = AbortSignal.timeout(call.timeoutMs);
  try {
    const response = await request(call.url, {
      dispatcher,
      method: call.method,
      signal: AbortSignal.any([call.signal, limit]),
      headers: {
        ...call.headers,
        ...traceHeaders(),
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    return { status: response.statusCode, bytes: await readBounded(response.body, call.peer) };
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    if (error instanceof SlipwayError) throw error;
    const detail = limit.aborted
      ? `${call.peer} did not answer within ${Math.ceil(call.timeoutMs / 1000)} s.`
      : `${call.peer} does not answer.`;
    throw new SlipwayError(call.unreachable, detail, {
      cause: error,
      internal: `${call.method} ${call.url}: ${(error as Error).message}`,
    });
  }
}

function problemOf(call: PeerCall, status: number, text: string): SlipwayError {
  const problem = Problem.safeParse(parseOrNull(text));
  const internal = `${call.method} ${call.url} answered ${status}`;
  const known = problem.success ? ERROR_CODES.find((code) => code === problem.data.code) : undefined;
  if (problem.success && known !== undefined)
    return new SlipwayError(known, problem.data.detail, {
      internal: `${internal} ${known}: ${problem.data.detail}`,
      extensions: { ...problem.data, status },
    });
  if (status === 404)
    return new SlipwayError('resource.not-found', `${call.peer} does not know it.`, {
      internal,
      extensions: { status },
    });
  return new SlipwayError(
    status >= 500 || status === 429 ? call.unreachable : 'internal.unexpected',
    `${call.peer} answered with status ${status}.`,
    {
      internal: `${internal}: ${text.slice(0, 500)}`,
      extensions: { status },
    },
  );
}

async function readBounded(body: AsyncIterable<Buffer> & { destroy(): unknown }, peer: string): Promise<Buffer> {
  const parts = await readWithin(body, MAX_ANSWER_BYTES, UNBOUNDED);
  if (typeof parts !== 'string') return Buffer.concat(parts);
  body.destroy();
  throw new SlipwayError('request.too-large', `${peer} answered more than ${MAX_ANSWER_BYTES / 1024} KiB.`);
}

const UNBOUNDED: Pick<ReadSlot, 'take'> = { take: () => true };

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

import type { Readable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';
import type { Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * Largest answer that is read whole. Bytes; a page of history with its payloads is the largest honest one, and the tool
 * process is not trusted.
 */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;

/** The client library, loaded with the first call: a blank sandbox makes none. */
let loaded: Promise<{ request: typeof import('undici').request; agent: Dispatcher }> | undefined;
function load(): NonNullable<typeof loaded> {
  loaded ??= import('undici').then(({ Agent, request }) => ({
    request,
    // Time limits are each caller's: a command may be silent for an hour.
    agent: new Agent({
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 30_000,
      connect: { timeout: CONNECT_TIMEOUT_MS },
    }),
  }));
  return loaded;
}

/** Loads what the first call needs, ahead of it. */
export async function preloadOutgoing(): Promise<void> {
  await load();
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  readonly signal: AbortSignal;
}

/**
 * One HTTP call. Aborting closes its connection. Rejects with undici's error when the other side cannot be reached, or
 * the signal's reason.
 */
export async function callOut(call: OutgoingRequest): Promise<Dispatcher.ResponseData> {
  const { request, agent } = await load();
  return request(call.url, {
    dispatcher: agent,
    method: call.method,
    headers: call.headers ?? {},
    body: call.body ?? null,
    signal: call.signal,
  });
}

/** As `callOut`, with the answer read as JSON: `null` when it is not. */
export async function callJson(
  call: OutgoingRequest,
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; body: unknown }> {
  const response = await callOut(call);
  return { status: response.statusCode, headers: response.headers, body: await readAnswer(response) };
}

/**
 * The answer as JSON; one that is not comes from something in between, and its status says enough. Rejects when it is
 * larger than `MAX_ANSWER_BYTES`.
 */
export async function readAnswer({ body }: Dispatcher.ResponseData): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new SlipwayError('service.unavailable', `An answer was larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB.`);
    parts.push(part);
  }
  try {
    return bytes === 0 ? null : JSON.parse(Buffer.concat(parts, bytes).toString('utf8'));
  } catch {
    return null;
  }
}

/** True when the request cannot have reached the other side. */
export function wasNeverSent(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH'
  );
}

/** The code of a problem document, `null` for anything else. */
export function problemCode(body: unknown): string | null {
  const code = (body as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}

/** What a service answered that should have answered with success. */
export function refusal(service: string, status: number, body: unknown): SlipwayError {
  const detail = (body as { detail?: unknown } | null)?.detail;
  return new SlipwayError(
    'service.unavailable',
    `${service} answered with status ${status}${typeof detail === 'string' ? `: ${detail}` : ''}.`,
  );
}

import type { Readable } from 'node:stream';
import { SlipwayError } from '@slipway/errors';
import type { Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 5_000;

/** The client library, loaded with the first call: a blank sandbox makes none. */
let loaded: Promise<{ request: typeof import('undici').request; agent: Dispatcher }> | undefined;
function load(): NonNullable<typeof loaded> {
  loaded ??= import('undici').then(({ Agent, request }) => ({
    request,
    // Time limits are each caller's: a command may be silent for an hour.
    agent: new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000, connect: { timeout: CONNECT_TIMEOUT_MS } }),
  }));
  return loaded;
}

/** Loads what the first call needs, ahead of it. */
export async function preloadOutgoing(): Promise<void> {
  await load();
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | Readable;
  readonly signal: AbortSignal;
}

/** One HTTP call. Aborting closes its connection. Rejects with undici's error when the other side cannot be reached, or the signal's reason. */
export async function callOut(call: OutgoingRequest): Promise<Dispatcher.ResponseData> {
  const { request, agent } = await load();
  return request(call.url, { dispatcher: agent, method: call.method, headers: call.headers ?? {}, body: call.body ?? null, signal: call.signal });
}

/** As `callOut`, with the answer read as JSON: `null` when it is not. */
export async function callJson(call: OutgoingRequest): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; body: unknown }> {
  const response = await callOut(call);
  const text = await response.body.text();
  let body: unknown = null;
  try {
    body = text === '' ? null : JSON.parse(text);
  } catch {
    // An answer that is not JSON comes from something in between; its status says enough.
  }
  return { status: response.statusCode, headers: response.headers, body };
}

/** True when the request cannot have reached the other side. */
export function wasNeverSent(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ENOTFOUND' || code === 'EHOSTUNREACH';
}

/** The code of a problem document, `null` for anything else. */
export function problemCode(body: unknown): string | null {
  const code = (body as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}

/** What a service answered that should have answered with success. */
export function refusal(service: string, status: number, body: unknown): SlipwayError {
  const detail = (body as { detail?: unknown } | null)?.detail;
  return new SlipwayError('service.unavailable', `${service} answered with status ${status}${typeof detail === 'string' ? `: ${detail}` : ''}.`);
}

import { type KeyObject, sign } from 'node:crypto';
import http from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ERRORS, type ErrorCode } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';

/** Longest silence of a sandbox that sends or takes files. Milliseconds. */
const SILENCE_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const HEADER = base64url(JSON.stringify({ alg: 'EdDSA', typ: 'JWT' }));

/** An Ed25519-signed JWT over these claims. */
export function signedToken(claims: Readonly<Record<string, unknown>>, key: KeyObject): string {
  const signed = `${HEADER}.${base64url(JSON.stringify(claims))}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

export interface SandboxTransfer {
  readonly method: 'GET' | 'PUT';
  readonly url: string;
  readonly token: string;
  readonly contentType: string;
  /** Read to its end, or destroyed. */
  readonly source: Readable | null;
  /** Of what is transferred, for the sentence of a failure: "archive". */
  readonly what: string;
}

/**
 * A request to a sandbox whose body or answer is a stream of any length. @throws SlipwayError `sandbox.unreachable`,
 * the source's own, or the signal's reason.
 */
export function transfer(
  { method, url, token, contentType, source, what }: SandboxTransfer,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(source === null ? {} : { 'content-type': contentType }),
    };
    const fail = (error: unknown): void => {
      const words = error instanceof Error ? error.message : String(error);
      reject(
        error instanceof SlipwayError
          ? error
          : new SlipwayError('sandbox.unreachable', `The sandbox broke off its ${what}: ${words}`, { cause: error }),
      );
    };
    const request = http.request(url, { method, headers, agent: false, signal }, resolve);
    request.setTimeout(SILENCE_MS, () => request.destroy(new Error(`nothing came for ${SILENCE_MS / 1_000} s`)));
    request.on('error', fail);
    if (source === null) request.end();
    else pipeline(source, request).catch(fail);
  });
}

/** Reads a short answer. @throws Error when it is longer than 64 KiB, or no JSON. */
export async function readAnswer(response: http.IncomingMessage): Promise<unknown> {
  let body = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    body += chunk.toString('utf8');
    if (body.length > MAX_ANSWER_BYTES) throw new Error('the answer of the sandbox is too long');
  }
  return JSON.parse(body);
}

/**
 * What a sandbox refused, in its words.
 * @param known codes that may be handed on; any other is `sandbox.unreachable`.
 */
export async function refusedTransfer(
  response: http.IncomingMessage,
  what: string,
  known: ReadonlySet<ErrorCode>,
): Promise<SlipwayError> {
  const answer = (await readAnswer(response).catch(() => null)) as { detail?: unknown; code?: unknown } | null;
  const code = answer?.code;
  const detail = typeof answer?.detail === 'string' ? answer.detail : `agent-server answered ${response.statusCode}`;
  return new SlipwayError(
    isErrorCode(code) && known.has(code) ? code : 'sandbox.unreachable',
    `${what[0]?.toUpperCase()}${what.slice(1)}: ${detail}`,
  );
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code);
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

import { createHash, type KeyObject, sign } from 'node:crypto';
import http from 'node:http';
import { type ActivationClaims, InitState } from '@slipway/contracts';

/** Life of an activation token. Seconds. */
const TOKEN_SECONDS = 30;
/** Longest answer read from a sandbox, which is not to be trusted with our memory. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
const HEADER = base64url(JSON.stringify({ alg: 'EdDSA', typ: 'JWT' }));

/** The token that gives one sandbox to one claim: an Ed25519 JWT over the claims, the hash of `body` among them. */
export function signActivation(claims: Omit<ActivationClaims, 'body_sha256'>, body: string, key: KeyObject, now: Date): string {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const payload = {
    ...claims,
    body_sha256: createHash('sha256').update(body).digest('base64url'),
    aud: 'slipway-activation',
    iat: issuedAt,
    exp: issuedAt + TOKEN_SECONDS,
  };
  const signed = `${HEADER}.${base64url(JSON.stringify(payload))}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

export type ActivationOutcome =
  | { readonly result: 'accepted'; readonly state: InitState }
  /** Another claim owns it. Never expected: a slot is bound once. */
  | { readonly result: 'owned-by-another' }
  /** No answer, or one that is not `InitState`. It may have been accepted all the same: give this sandbox up. */
  | { readonly result: 'failed'; readonly reason: string };

/** `POST /api/init`. @throws never; no answer until `signal` is `failed`. */
export async function sendActivation(address: string, token: string, body: string, signal: AbortSignal): Promise<ActivationOutcome> {
  try {
    const answer = await sandboxRequest(`${address}/api/init`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      signal,
    });
    if (answer.status === 409) return { result: 'owned-by-another' };
    if (answer.status !== 200) return { result: 'failed', reason: `agent-server answered ${answer.status} to the activation` };
    return { result: 'accepted', state: InitState.parse(JSON.parse(answer.body)) };
  } catch (error) {
    return { result: 'failed', reason: `agent-server did not answer the activation: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** What the sandbox says of itself, `GET /api/init`: its receipt of the one claim that it accepted. `null` when it does not answer properly. @throws never. */
export async function readActivation(address: string, signal: AbortSignal): Promise<InitState | null> {
  try {
    const answer = await sandboxRequest(`${address}/api/init`, { method: 'GET', headers: {}, signal });
    return answer.status === 200 ? InitState.parse(JSON.parse(answer.body)) : null;
  } catch {
    return null;
  }
}

/**
 * One request on a connection of its own: a kept connection may have been closed by the other side at that moment, and a claim must not be lost to that.
 * @throws Error when there is no whole answer before `signal`, or it is longer than `maxAnswerBytes` (64 KiB).
 */
export function sandboxRequest(
  url: string,
  options: { method: string; headers: Record<string, string>; body?: string; signal: AbortSignal; maxAnswerBytes?: number },
): Promise<{ status: number; body: string }> {
  const { maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  return new Promise((resolve, reject) => {
    const body = options.body === undefined ? undefined : Buffer.from(options.body);
    const headers = body === undefined ? options.headers : { ...options.headers, 'content-length': String(body.length) };
    const request = http.request(url, { method: options.method, headers, agent: false, signal: options.signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxAnswerBytes) response.destroy(new Error(`the answer is longer than ${maxAnswerBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

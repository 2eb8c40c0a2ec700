import { createHash, type KeyObject } from 'node:crypto';
import { type ActivationClaims, InitState } from '@slipway/contracts/agent';
import { sandboxRequest } from './sandbox-request.js';
import { signedToken } from './transfer.js';

/** Lifetime of an activation token. Seconds. */
const TOKEN_SECONDS = 30;

/** The token that gives one sandbox to one claim: an Ed25519 JWT over the claims, the hash of `body` among them. */
export function signActivation(
  claims: Omit<ActivationClaims, 'body_sha256'>,
  body: string,
  key: KeyObject,
  now: Date,
): string {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const payload = {
    ...claims,
    body_sha256: createHash('sha256').update(body).digest('base64url'),
    aud: 'slipway-activation',
    iat: issuedAt,
    exp: issuedAt + TOKEN_SECONDS,
  };
  return signedToken(payload, key);
}

export type ActivationOutcome =
  | { readonly result: 'accepted'; readonly state: InitState }
  /** Another claim owns it. Never expected: a slot is bound once. */
  | { readonly result: 'owned-by-another' }
  /** No answer, or one that is not `InitState`. It may have been accepted all the same: give this sandbox up. */
  | { readonly result: 'failed'; readonly reason: string };

export interface SentActivation {
  readonly token: string;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
}

/** `POST /api/init`. @throws never; no answer until `signal`, or within `timeoutMs`, is `failed`. */
export async function sendActivation(
  address: string,
  { token, body, signal, timeoutMs }: SentActivation,
): Promise<ActivationOutcome> {
  try {
    const answer = await sandboxRequest(`${address}/api/init`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    if (answer.status === 409) return { result: 'owned-by-another' };
    if (answer.status !== 200)
      return { result: 'failed', reason: `agent-server answered ${answer.status} to the activation` };
    return { result: 'accepted', state: InitState.parse(JSON.parse(answer.body)) };
  } catch (error) {
    return {
      result: 'failed',
      reason: `agent-server did not answer the activation: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/**
 * What the sandbox says of itself, `GET /api/init`: its receipt of the one claim that it accepted. `null` when it does
 * not answer properly. @throws never.
 */
export async function readActivation(
  address: string,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<InitState | null> {
  try {
    const answer = await sandboxRequest(`${address}/api/init`, {
      method: 'GET',
      headers: {},
      signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    return answer.status === 200 ? InitState.parse(JSON.parse(answer.body)) : null;
  } catch {
    return null;
  }
}

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ActivationClaims } from '@slipway/contracts/agent';
import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';

const ACTIVATION_AUDIENCE = 'slipway-activation';
/** Oldest token that is accepted, and how far its clock may be ahead of ours. Seconds. */
const MAX_AGE_S = 30;
const MAX_SKEW_S = 5;

/** @param spki Ed25519 public key, SPKI DER, base64. @throws SlipwayError `config.invalid`. */
export function readPublicKey(spki: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (error) {
    throw new SlipwayError('config.invalid', 'ACTIVATION_PUBLIC_KEY is not a public key in SPKI DER, base64.', {
      cause: error,
    });
  }
  throw new SlipwayError('config.invalid', 'ACTIVATION_PUBLIC_KEY is not an Ed25519 key.');
}

/** Refuses a token, always with the same code: what exactly is wrong with a forged one is for its maker to find out. */
function refusedToken(what: string, why: string): SlipwayError {
  return new SlipwayError('auth.missing', `The ${what} token is not valid: ${why}.`);
}

/**
 * The payload of a JWT that was signed with the platform's key for `audience` and has not expired. What else must be in
 * it is the caller's to check. Fails closed: a token with anything missing, foreign or old is refused with
 * `auth.missing`.
 */
export function readSignedToken(
  token: string,
  expected: { key: KeyObject; audience: string; what: string; nowMs: number },
): Readonly<Record<string, unknown>> {
  const refuse = (why: string): SlipwayError => refusedToken(expected.what, why);
  const [header, payload, signature, ...rest] = token.split('.');
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0)
    throw refuse('it is not a JWT');
  if ((decode(header) as { alg?: unknown } | null)?.alg !== 'EdDSA') throw refuse('its algorithm is not EdDSA');
  if (!verify(null, Buffer.from(`${header}.${payload}`), expected.key, Buffer.from(signature, 'base64url')))
    throw refuse('its signature does not match');
  const raw = decode(payload) as Record<string, unknown> | null;
  if (raw === null || typeof raw !== 'object') throw refuse('claims are missing');
  const { aud, exp } = raw;
  if (aud !== expected.audience && !(Array.isArray(aud) && aud.includes(expected.audience)))
    throw refuse('it is for another audience');
  if (exp !== undefined && (typeof exp !== 'number' || expected.nowMs / 1000 > exp)) throw refuse('it has expired');
  return raw;
}

/**
 * Claims of a token for one transfer of files. Fails closed, as `readSignedToken`; one that is valid for longer than
 * `maxSeconds` is refused.
 */
export function readTransferToken<T extends { readonly exp: number }>(
  token: string | undefined,
  schema: z.ZodType<T>,
  expected: { key: KeyObject; audience: string; what: string; maxSeconds: number; nowMs: number },
): T {
  const { what, maxSeconds, nowMs } = expected;
  if (token === undefined) throw new SlipwayError('auth.missing', `This needs a signed ${what} token.`);
  const claims = schema.safeParse(readSignedToken(token, expected));
  if (!claims.success) throw refusedToken(what, 'claims are missing');
  if (claims.data.exp - nowMs / 1000 > maxSeconds + MAX_SKEW_S) throw refusedToken(what, 'its lifetime is too long');
  return claims.data;
}

/**
 * @throws SlipwayError `auth.missing` for a bad token and `permission.denied` for the wrong sandbox; only a token
 * freshly signed for this sandbox and this body passes.
 */
export function verifyActivation(
  token: string,
  body: Buffer,
  expected: { key: KeyObject; slotId: string; podUid: string; nowMs: number },
): ActivationClaims {
  const refuse = (why: string): SlipwayError => refusedToken('activation', why);
  const raw = readSignedToken(token, { ...expected, audience: ACTIVATION_AUDIENCE, what: 'activation' });
  const claims = ActivationClaims.safeParse(raw);
  if (!claims.success) throw refuse('claims are missing');
  const now = expected.nowMs / 1000;
  const { iat } = raw;
  if (typeof iat !== 'number' || now - iat > MAX_AGE_S || iat - now > MAX_SKEW_S)
    throw refuse('it is too old, or from the future');
  if (claims.data.body_sha256 !== createHash('sha256').update(body).digest('base64url'))
    throw refuse('it was signed for another body');
  if (claims.data.slot_id !== expected.slotId || claims.data.pod_uid !== expected.podUid)
    throw new SlipwayError('permission.denied', 'The activation is for another sandbox.');
  return claims.data;
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
